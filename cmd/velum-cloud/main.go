// Command velum-cloud masks archives that lie in object stores: see package cloud. It is a
// module of its own, since velum has no network code.
package main

import (
	"context"
	"os"
	"syscall"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/velum-health/velum/cmd/velum-cloud/cloud"
)

func main() {
	syscall.Umask(0o077)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	ctx := policy.WithRetryOptions(context.Background(), policy.RetryOptions{MaxRetries: cloud.Requests - 1})
	os.Exit(cloud.Start(ctx, os.Args[1:], open))
}

// open opens a bucket whose library sends a request cloud.Requests times at the most: that of S3
// does so anyway, Azure's is told by the context.
func open(ctx context.Context, url string) (*blob.Bucket, error) {
	b, err := blob.OpenBucket(ctx, url)
	var google *storage.Client
	if err == nil && b.As(&google) {
		google.SetRetry(storage.WithMaxAttempts(cloud.Requests), storage.WithPolicy(storage.RetryAlways))
	}
	return b, err
}
