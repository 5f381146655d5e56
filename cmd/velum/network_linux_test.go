package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

func init() { testProcesses["jail"], testProcesses["dial"] = jail, dial }

// jail is velum without sockets: a filter of system calls, which its decode
// workers inherit, kills the process that asks for one.
func jail() exit.Code {
	if err := forbidSockets(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	if len(os.Args) > 1 && os.Args[1] == "dial" {
		return dial()
	}
	return testProcesses["velum"]()
}

// forbidSockets kills this process at its next socket(2), in every thread.
func forbidSockets() error {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS // the number of the call is at offset 0
		equals = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		result = unix.BPF_RET | unix.BPF_K
	)
	filter := []unix.SockFilter{
		{Code: load, K: 0},
		{Code: equals, K: unix.SYS_SOCKET, Jt: 0, Jf: 1},
		{Code: result, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: result, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// The flag gives all threads what the calling one has.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}

// dial says which network interfaces are up, and whether it reaches anything.
func dial() exit.Code {
	all, err := net.Interfaces()
	if err != nil {
		fmt.Println("interfaces:", err)
	}
	up := 0
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 {
			up++
		}
	}
	c, err := net.Dial("udp", "192.0.2.1:9") // a test address; UDP sends nothing here, and wants a route all the same
	if err == nil {
		c.Close()
	}
	fmt.Printf("%d interfaces up, reached: %v\n", up, err == nil)
	return exit.Done
}

// TestNoSockets: a run opens no socket at all, not even one that stays on this
// machine.
func TestNoSockets(t *testing.T) {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "CGO_ENABLED" && s.Value == "1" {
				t.Skip("built with cgo, whose C library looks users up over a socket; a release is not")
			}
		}
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.parquet")
	canaryArchive(t, in, 1, faultNotes, false)

	planted := process(t, "jail", "dial")
	text, err := planted.CombinedOutput()
	if planted.ProcessState.ExitCode() == 99 {
		t.Skipf("no filter of system calls here: %s", text)
	}
	if status, ok := planted.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGSYS {
		t.Fatalf("a planted socket is not seen: %v, %s", err, text)
	}

	want := maskOnce(t, in, filepath.Join(dir, "whole"))
	out := filepath.Join(dir, "out")
	if text, err := process(t, "jail", "run", "-q", "--in", in, "--out", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !bytes.Equal(manifestBytes(t, out), want) {
		t.Error("the tree is another without sockets")
	}
}

// TestNoNetwork runs velum where there is no network: in a namespace of its
// own, whose one interface is down.
func TestNoNetwork(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.parquet")
	canaryArchive(t, in, 1, faultNotes, false)
	alone := func(kind string, args ...string) (string, error) {
		c := process(t, kind, args...)
		c.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		}
		text, err := c.CombinedOutput()
		return string(text), err
	}
	text, err := alone("dial")
	if err != nil {
		t.Skipf("no namespaces of users and networks here: %v", err)
	}
	if !strings.Contains(text, "0 interfaces up, reached: false") {
		t.Fatalf("this namespace has a network: %s", text)
	}
	want := maskOnce(t, in, filepath.Join(dir, "whole"))
	out := filepath.Join(dir, "out")
	if text, err := alone("velum", "run", "-q", "--in", in, "--out", out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !bytes.Equal(manifestBytes(t, out), want) {
		t.Error("the tree is another without a network")
	}
}
