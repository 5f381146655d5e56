// Package durable is the file system layer for all that velum writes. Every operation that changes a file goes through
// the interface [FS], so that tests can replace the disk by one that fails, fills up or loses unsynced data.
//
// It makes files and folders that exist either completely or not at all, even after a crash: [WriteFile] writes a file,
// [Draft] a folder, and [RemoveFolder] removes one. [Holder] describes who holds a lock. [Witness] records I/O errors
// that a library has hidden from its caller. The package knows nothing of notes, units or manifests, which belong to
// package commit.
package durable
