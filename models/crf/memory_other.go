//go:build !linux

package crf

const hugePage = 1

func hugePages([]byte) {}
