package hostmodel

import "github.com/vppdrill/vppdrill/sim/engine"

// Journal is one life of the writer of a Disk's file. It refuses what vppwire/host/journal refuses, and leaves behind
// what that may leave behind. Package journaltest proves both.
type Journal struct {
	disk *Disk
	// failed is the last write that failed, or shared the fate of one. broken: nothing can be appended before everything
	// is replaced. shared: the last failure left its whole frame in the file and has not been reported yet.
	failed         uint64
	broken, shared bool
}

// Write is one request to a Journal. GivenUp is the last write that its caller has given up because a failure was
// reported.
type Write struct {
	Seq, GivenUp uint64
	Replace      bool
	Payload      []byte
}

// What a failed write leaves of itself.
const (
	_ = iota // nothing
	// leftUnsafe: all of it is in the file, and a crash of the machine may lose it.
	leftUnsafe
	// leftTorn: a part of it is behind the last frame. A replacement takes the name whole or not at all.
	leftTorn
	leftWays
)

// Open starts a life: what an earlier one has left is made safe and read, without the end that is no frame.
func (d *Disk) Open() (j *Journal, payloads [][]byte, cut int) {
	d.Sync()
	payloads, cut = d.Read()
	return &Journal{disk: d}, payloads, cut
}

// Write does a write, which is safe after Sync, or lets it fail. False when it failed or was refused: call Told when
// the caller gets the error. Earlier requests may share the fate of the write that failed.
func (j *Journal) Write(w Write, fails bool, c engine.Chooser) bool {
	switch {
	case w.GivenUp < j.failed:
		// in their order, up to one of them
		if j.shared = j.shared && c.Pick("disk: write of one that failed", 2) == 1; j.shared {
			j.put(w)
			j.failed = w.Seq
		}
		return false
	case j.broken && !w.Replace:
		return false
	case !fails:
		j.put(w)
		j.broken = false
		return true
	}
	j.disk.Sync() // what is before it does not suffer
	j.failed, j.broken, j.shared = w.Seq, true, false
	ways := leftWays
	if w.Replace {
		ways = leftTorn
	}
	switch c.Pick("disk: left of a failed write", ways) {
	case leftUnsafe:
		j.put(w)
		j.shared = true
	case leftTorn:
		j.disk.appendPart(w.Payload, c)
	}
	return false
}

func (j *Journal) put(w Write) {
	if w.Replace {
		j.disk.Replace(w.Payload) // now: what is appended from here on belongs behind it
	} else {
		j.disk.Append(w.Payload)
	}
}

// Told says that the caller has got the error of the last failure.
func (j *Journal) Told() { j.shared = false }

// Sync makes safe what did not fail.
func (j *Journal) Sync() {
	if !j.broken {
		j.disk.Sync()
	}
}
