package vppwire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoRoom is what the Session answers itself when VPP would not survive one more AF_PACKET interface.
var ErrNoRoom = errors.New("no room for another AF_PACKET interface")

// VPP 25.06 brought vlib_file_poll (src/vlib/file.c, commit 5c72a3780f7 of April 2025): it asks epoll for 16 events,
// and when it got as many, asks again before anything of theirs was read. AF_PACKET sockets stay readable until their
// node runs, so that 16 of them with a frame at once keep VPP's main thread in there for ever. Other descriptors are
// read at once and ask no second time. Seen on 25.10 with 24 and 60 interfaces within seconds, never with 12; the code
// is the same in 26.06 and master.
const (
	firstWithPoll = 2506 // year and month
	roomWithPoll  = 15
)

// AFPacketRoom is how many AF_PACKET interfaces a VPP survives, by the version that it tells, as 25.10-release; false:
// any number. One whose version cannot be read is taken for a present one.
func AFPacketRoom(version string) (most int, limited bool) {
	year, rest, _ := strings.Cut(version, ".")
	month := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	y, err1 := strconv.Atoi(strings.TrimPrefix(year, "v"))
	m, err2 := strconv.Atoi(month)
	if err1 == nil && err2 == nil && y*100+m < firstWithPoll {
		return 0, false
	}
	return roomWithPoll, true
}

// LimitAFPacket tells how many AF_PACKET interfaces VPP may have, those of others included; negative: any number. The
// Session refuses to create more, by ErrNoRoom, and tries again later. Without it any number is created.
func (s *Session) LimitAFPacket(most int) { s.room = most }

// Short reports whether an interface has been refused by ErrNoRoom since it was asked last. Done of its group tells.
func (s *Session) Short() bool {
	was := s.short
	s.short = false
	return was
}

// full reports why o must not be created now.
func (s *Session) full(o Object) error {
	p, ok := o.(AFPacket)
	if !ok || s.room < 0 || s.packets < s.room {
		return nil
	}
	return fmt.Errorf("%w: %s would be VPP's number %d, and VPP hangs for ever once 16 of them have a frame at the same time (vlib_file_poll, since "+
		"25.06); have pods share one by macvlan, or use taps", ErrNoRoom, AFPacketName(p.Device), s.packets+1)
}

// countPackets keeps the number of VPP's AF_PACKET interfaces.
func (s *Session) countPackets(o Object, by int) {
	if _, ok := o.(AFPacket); ok {
		s.packets += by
	}
}
