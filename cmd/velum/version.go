package main

// Variables that the linker sets; see the Makefile.
var (
	version  = "dev"
	revision = ""
)
