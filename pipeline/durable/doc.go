// Package durable is the disk under what velum writes: every operation that
// changes a file goes through a small [FS], so that tests put a disk beneath
// it that fails, fills up or loses what was not synced.
//
// What comes in are names and bytes; what goes out are files and folders that
// are there whole or not at all, whatever a crash left: [WriteFile] for a file,
// [Draft] for a folder, [RemoveFolder] for its end. A lock says who holds it
// ([Holder]); a [Witness] remembers what the disk said when a library that
// read from it did not. It knows nothing of notes, units or manifests: that is
// package commit, above it.
package durable
