package vppwire_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: releases with vlib_file_poll are known by what they say of themselves. Method: a table.
func TestAFPacketRoom(t *testing.T) {
	for version, limited := range map[string]bool{
		"25.10-release": true, "25.06-release": true, "v25.10-rc0~100-gabc": true, "26.06-release": true, "27.02": true, "": true, "my build": true,
		"25.02-release": false, "24.10-release": false, "20.05.1-1": false, "v23.06": false,
	} {
		if most, got := vppwire.AFPacketRoom(version); got != limited || got && most != 15 {
			t.Errorf("%q: %d, %v", version, most, got)
		}
	}
}

// Goal: no more AF_PACKET interfaces are made than VPP survives, those that are too many say why and come when others
// have gone. Method: 20 pairs, one VPP.
func TestNoRoom(t *testing.T) {
	r := newRig(t)
	r.s.LimitAFPacket(15)
	r.s.AllowDelete()
	group := func(i int) string { return fmt.Sprint("pod", i) }
	for i := range 20 {
		device := fmt.Sprintf("vd%d", i)
		r.set(group(i), []vppwire.Object{vppwire.Veth{Device: device, Peer: "p" + device}, vppwire.AFPacket{Device: device, MAC: vppwire.MAC{2, byte(i)}}})
	}
	quiet := func() {
		for range 500 {
			if c, more := r.s.Next(r.now); more {
				r.do(c, done)
			}
		}
	}
	quiet()
	full := 0
	for i := range 20 {
		if ok, err := r.s.Done(group(i)); !ok {
			full++
			if !errors.Is(err, vppwire.ErrNoRoom) {
				t.Errorf("%s: %v", group(i), err)
			}
		}
	}
	if full != 5 || !r.s.Short() || r.s.Short() {
		t.Errorf("%d of 20 found no room", full)
	}
	for i := range 5 {
		r.set(group(i), nil)
	}
	quiet()
	r.now = r.now.Add(31e9)
	quiet()
	if !r.s.Idle() {
		t.Errorf("with room for all: %s", r.s.Pending())
	}
}

// Goal: where there is room for some only, it is not for those that are behind, in whatever order they were wanted.
// Method: 20 pairs, the first six of which are behind, one of them no more.
func TestBehind(t *testing.T) {
	r := newRig(t)
	r.s.LimitAFPacket(15)
	group := func(i int) string { return fmt.Sprint("pod", i) }
	for i := range 20 {
		device := fmt.Sprintf("vd%d", i)
		r.set(group(i), []vppwire.Object{vppwire.Veth{Device: device, Peer: "p" + device}, vppwire.AFPacket{Device: device, MAC: vppwire.MAC{2, byte(i)}}})
		r.s.Behind(group(i), i < 6)
	}
	r.s.Behind(group(2), false)
	for range 500 {
		if c, more := r.s.Next(r.now); more {
			r.do(c, done)
		}
	}
	for i := range 20 {
		_, err := r.s.Done(group(i))
		if room := i == 2 || i >= 6; room != (err == nil) {
			t.Errorf("%s: %v", group(i), err)
		}
	}
}
