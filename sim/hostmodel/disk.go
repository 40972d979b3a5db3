package hostmodel

import (
	"fmt"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// Disk is one journal file of a machine: frames at its end, some of them not synced yet. The zero Disk is an empty
// file. It survives Reboot; power loss is Crash. The death of a process alone loses nothing.
type Disk struct {
	// files are the contents that the name may have after a crash: more than one while a Replace is not synced. The last
	// is the present one.
	files []file
}

// file is the content of a file with the end of what is safe, and the end of each frame behind that.
type file struct {
	data   []byte
	synced int
	ends   []int
}

func (d *Disk) file() *file {
	if len(d.files) == 0 {
		d.files = append(d.files, file{})
	}
	return &d.files[len(d.files)-1]
}

// Append writes one frame with this payload, which is copied; nothing of it is safe before Sync.
func (d *Disk) Append(payload []byte) {
	f := d.file()
	f.data = AppendFrame(f.data, payload)
	f.ends = append(f.ends, len(f.data))
}

// appendPart writes the beginning of a frame and goes no further.
func (d *Disk) appendPart(payload []byte, c engine.Chooser) {
	f := d.file()
	start := len(f.data)
	f.data = AppendFrame(f.data, payload)
	f.data = f.data[:start+1+c.Pick("disk: bytes kept", len(f.data)-start-1)]
}

// Sync makes everything written and replaced so far safe.
func (d *Disk) Sync() {
	f := d.file()
	f.synced, f.ends = len(f.data), f.ends[:0]
	if len(d.files) > 1 {
		d.files = append(d.files[:0], *f)
	}
}

// Replace makes the content exactly one frame with this payload: written beside, synced, renamed. Until the next Sync a
// crash may bring the old content back, never a mixture.
func (d *Disk) Replace(payload []byte) {
	d.file()
	data := AppendFrame(nil, payload)
	d.files = append(d.files, file{data: data, synced: len(data)})
}

// Crash loses, by the Chooser's choice, any end of what was not synced: whole frames, and of the first lost frame
// perhaps a part that stays, cut short or filled up with zeros. A Chooser that picks 0 loses nothing. What is left is
// safe.
func (d *Disk) Crash(c engine.Chooser) {
	f := d.file()
	if n := len(d.files); n > 1 {
		f = &d.files[n-1-c.Pick("disk: renames lost", n)]
	}
	lost := c.Pick("disk: frames lost", len(f.ends)+1)
	if lost > 0 {
		f.tear(c, len(f.ends)-lost)
	}
	f.synced, f.ends = len(f.data), nil
	d.files = []file{*f}
}

// Ways in which the first lost frame ends.
const (
	tornAway = iota
	tornShort
	tornZeros
	tornWays
)

// tear loses the unsynced frames from number first on.
func (f *file) tear(c engine.Chooser, first int) {
	start, end := f.synced, f.ends[first]
	if first > 0 {
		start = f.ends[first-1]
	}
	switch way := c.Pick("disk: torn frame", tornWays); way {
	case tornAway:
		f.data = f.data[:start]
	case tornShort:
		f.data = f.data[:start+1+c.Pick("disk: bytes kept", end-start-1)]
	case tornZeros:
		kept := start + c.Pick("disk: bytes kept", end-start)
		clear(f.data[kept:end])
		f.data = f.data[:end]
	default:
		panic(fmt.Sprintf("hostmodel: way %d to tear a frame", way))
	}
}

// Read returns the payloads of the file's whole frames, oldest first. It also returns how many damaged bytes behind
// them were cut off, which is necessary before a journal writes to the file again. The payloads are valid until the
// next change.
func (d *Disk) Read() (payloads [][]byte, cut int) {
	f := d.file()
	whole := 0
	for p := range Frames(f.data) {
		payloads = append(payloads, p)
		whole += frameHeader + len(p)
	}
	cut = len(f.data) - whole
	if cut > 0 {
		f.data = f.data[:whole]
		f.synced = min(f.synced, whole)
	}
	return payloads, cut
}

// Size is the length of the file in bytes, Unsynced how many of them a crash may lose.
func (d *Disk) Size() int     { return len(d.file().data) }
func (d *Disk) Unsynced() int { return len(d.file().data) - d.file().synced }
