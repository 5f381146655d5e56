package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Op is one operation.
type diskOp struct {
	Kind  string // open, create, read, write, truncate, sync, close, fstat, rename, remove, mkdir, syncdir, readdir, stat, lock, unlock
	Path  string
	After string // of a syncdir: the last change that it makes safe, "" if there is none
}

func (o diskOp) String() string { return strings.TrimSpace(o.Kind + " " + o.Path + " " + o.After) }

// Fault says what happens at operation At, counted from 1 for every process: it
// fails with Err, once or from then on, or the process dies when Err is nil.
type diskFault struct {
	At      int
	Err     error
	Lasting bool
}

// errDied is what a dead process would see if it could.
var errDiskDied = errors.New("the process is dead")

// begin counts an operation and tells whether it fails before it does
// anything.
func (d *memoryDisk) begin(op diskOp) error {
	if d.dead {
		return errDiskDied
	}
	d.ops = append(d.ops, op)
	n, f := len(d.ops), d.fault
	switch {
	case f.At == 0 || n < f.At || n > f.At && !f.Lasting:
		return nil
	case f.Err != nil:
		return f.Err
	case d.rng.IntN(2) == 0:
		d.dead = true
		return errDiskDied
	}
	return nil
}

// after tells whether the process died when the operation was done.
func (d *memoryDisk) after() error {
	if f := d.fault; f.At > 0 && f.Err == nil && len(d.ops) >= f.At {
		d.dead = true
		return errDiskDied
	}
	return nil
}

// Start begins another process, with a fault to come. The one before, dead or
// alive, has lost its files and locks, and nothing else.
func (d *memoryDisk) Start(f diskFault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	d.ops, d.dead, d.fault = nil, false, f
	clear(d.locked)
}

// died tells whether the process is dead.
func (d *memoryDisk) died() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// Ops lists the operations of this process.
func (d *memoryDisk) Ops() []diskOp {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.ops)
}

// Lose is a power loss: what was not synced is kept or lost, piece by piece, as
// the disk's seed has it. It returns the changes of names that were lost.
func (d *memoryDisk) Lose() (lost []diskOp) {
	d.mu.Lock()
	defer d.mu.Unlock()
	keep := []float64{0, 0.2, 0.5, 0.8, 1}[d.rng.IntN(5)]
	for i := range d.pending {
		if d.rng.Float64() < keep {
			d.pending[i].settle()
		} else {
			lost = append(lost, d.pending[i].op)
		}
	}
	d.pending = nil
	d.root = d.reboot(d.root, map[*diskNode]*diskNode{})
	d.used = d.root.size()
	return lost
}

// reboot returns what is left of a node. A file with two names stays one.
func (d *memoryDisk) reboot(n *diskNode, done map[*diskNode]*diskNode) *diskNode {
	if done[n] != nil {
		return done[n]
	}
	left := &diskNode{dir: n.dir}
	done[n] = left
	if !n.dir {
		left.data = d.survives(n)
		left.synced = slices.Clone(left.data)
		return left
	}
	left.names, left.safe = map[string]*diskNode{}, map[string]diskEntry{}
	var names []string
	for name := range n.safe {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if e := n.safe[name]; e.node != nil {
			inner := d.reboot(e.node, done)
			left.names[name], left.safe[name] = inner, diskEntry{inner, e.seq}
		}
	}
	return left
}

func (n *diskNode) size() int64 {
	s := int64(len(n.data))
	for _, inner := range n.names {
		s += inner.size()
	}
	return s
}

// sector is the piece of a file that survives whole or not at all. It is
// smaller than that of real disks since the files here are.
const diskSector = 32

// survives returns what a file holds after a power loss.
func (d *memoryDisk) survives(n *diskNode) []byte {
	if len(n.writes) == 0 {
		return slices.Clone(n.data)
	}
	switch d.rng.IntN(4) {
	case 0:
		return slices.Clone(n.synced)
	case 1:
		return slices.Clone(n.data)
	case 2:
		return d.someWrites(n)
	}
	return d.someSectors(n)
}

// someWrites keeps the first writes, the last of them torn.
func (d *memoryDisk) someWrites(n *diskNode) []byte {
	data := slices.Clone(n.synced)
	k := d.rng.IntN(len(n.writes))
	for i := range k {
		data = n.writes[i].apply(data)
	}
	torn := n.writes[k]
	if len(torn.data) > 0 {
		torn.data = torn.data[:d.rng.IntN(len(torn.data))]
		data = torn.apply(data)
	}
	return data
}

// someSectors keeps the new size and any of the sectors; the others are as
// they were, or zero.
func (d *memoryDisk) someSectors(n *diskNode) []byte {
	data := make([]byte, len(n.data))
	copy(data, n.synced)
	for at := 0; at < len(data); at += diskSector {
		if d.rng.IntN(2) == 0 {
			end := min(at+diskSector, len(data))
			copy(data[at:end], n.data[at:end])
		}
	}
	return data
}

// Trace is the end of a list of operations, for messages.
func diskTrace(ops []diskOp) string {
	var b strings.Builder
	first := max(0, len(ops)-12)
	for i, op := range ops[first:] {
		fmt.Fprintf(&b, "\n  %d %v", first+i+1, op)
	}
	return b.String()
}
