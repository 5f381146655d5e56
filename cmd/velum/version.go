package main

// Set by the linker, see the Makefile.
var (
	version  = "dev"
	revision = ""
)
