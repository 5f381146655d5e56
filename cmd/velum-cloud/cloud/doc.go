// Package cloud runs velum over archives and outputs that lie in object stores.
//
// velum itself knows folders alone, and has no network code. What lies in a store is
// brought to scratch on this machine, velum is started there as a process of its own,
// without the credentials, and what it has committed is put into the store:
//
//	list inputs -> those that are new, in batches that fit scratch
//	fetch batch -> velum run (its commit, on scratch) -> put parts -> manifest-N (the commit) -> views -> old parts removed
//
// A batch is to velum what a month is: the output grows by it, and is the same, byte for
// byte, as that of one run over all. A store has no rename, lock or append. So parts are put
// under the names that velum gave them, which are a function of the input; all other
// files, whose names come again, under their SHA-256. manifest-N.json is put if there is
// none of that number (If-None-Match), and says what the trees are. Then the files of the
// second kind are put in their places, manifest.json last: whoever reads the trees goes by
// it, as on a disk.
//
// Parts of earlier commits are not brought back: in scratch a file without blocks stands
// for each, as long as the part, which is what velum looks at ("run.recheck: never").
// Read as Parquet it is refused. Check reads every byte.
package cloud
