package ipamd_test

import (
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
)

// fullDisk is a disk on which there is no room, as long as it is full.
type fullDisk struct {
	ipamd.Disk
	full bool
}

type fullFile struct {
	datastore.File
	disk *fullDisk
}

func (d *fullDisk) Create(name string) (datastore.File, error) {
	f, err := d.Disk.Create(name)
	return fullFile{f, d}, err
}

func (f fullFile) Write(p []byte) (int, error) {
	if f.disk.full {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, unix.ENOSPC
	}
	return f.File.Write(p)
}

// A full disk: nobody is told an address that the disk does not have, DELs fail, what is there stays whole, and with room all goes on.
func TestDaemonOnAFullDisk(t *testing.T) {
	disk := &fullDisk{}
	n := newNode(t, "10.0.0.0/24", ec2.RegionConfig{})
	n.fs = disk
	n.start(time.Minute)
	pods := map[string]netip.Addr{"web": n.pod("web")}
	disk.full = true
	for name, err := range map[string]error{"an addition": second(n.Assign(key("db"))), "a removal": second(n.Release(key("web")))} {
		if !errors.Is(err, unix.ENOSPC) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s on a full disk: %v", name, err)
		}
	}
	n.whole(pods)
	n.start(time.Minute)
	n.whole(pods)
	disk.full = false
	pods["db"] = n.pod("db")
	n.whole(pods)
}

func second[T any](_ T, err error) error { return err }

// A checkpoint that cannot be read: nothing is assigned, nothing written, one line says why, and when it is repaired all goes on without a
// restart, with what pods had.
func TestDaemonBeforeABadCheckpoint(t *testing.T) {
	for what, spoil := range map[string]func(text []byte) []byte{
		"torn":            func(text []byte) []byte { return text[:len(text)/2] },
		"empty":           func([]byte) []byte { return nil },
		"another version": func(text []byte) []byte { return []byte(strings.Replace(string(text), "ipam/1", "ipam/9", 1)) },
	} {
		t.Run(what, func(t *testing.T) {
			n := newNode(t, "10.0.0.0/24", ec2.RegionConfig{})
			n.start(time.Minute)
			pods := map[string]netip.Addr{"web": n.pod("web"), "db": n.pod("db")}
			good, err := os.ReadFile(n.file)
			if err != nil {
				t.Fatal(err)
			}
			bad := spoil(good)
			if err := os.WriteFile(n.file, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			n.log.Reset()
			n.start(20 * time.Minute)
			if _, err := n.Assign(key("new")); err == nil || n.Ready() || strings.Contains(err.Error(), "\n") {
				t.Errorf("an addition: %v", err)
			}
			if said := strings.Count(n.log.String(), "level=WARN"); said != 1 {
				t.Errorf("%d warnings, want one:\n%s", said, n.log.String())
			}
			if now, err := os.ReadFile(n.file); err != nil || string(now) != string(bad) {
				t.Errorf("the file was changed: %v", err)
			}
			if err := os.WriteFile(n.file, good, 0o644); err != nil {
				t.Fatal(err)
			}
			n.run(20 * time.Minute)
			pods["new"] = n.pod("new")
			for name, was := range pods {
				if a := n.pod(name); a != was {
					t.Errorf("%s had %s, and has %s", name, was, a)
				}
			}
			n.whole(pods)
		})
	}
}

// Of two daemons on one checkpoint the second is refused.
func TestOneDaemonKeepsACheckpoint(t *testing.T) {
	file := t.TempDir() + "/ipam.json"
	first, err := ipamd.Lock(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ipamd.Lock(file); !errors.Is(err, ipamd.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := ipamd.Lock(file)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}
