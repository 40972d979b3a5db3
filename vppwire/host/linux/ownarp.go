package linux

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
)

// arpIgnore is the file that says for which addresses a link answers ARP requests: 0 for all of the host's, 1 for its
// own (Documentation/networking/ip-sysctl.rst).
func arpIgnore(link string) string { return "/proc/sys/net/ipv4/conf/" + link + "/arp_ignore" }

// setOwnARP has a link of the host's answer for its own addresses only, or for all.
func (p *place) setOwnARP(link string, own bool) error {
	value := "0"
	if own {
		value = "1"
	}
	return p.within(func() error {
		if err := os.WriteFile(arpIgnore(link), []byte(value), 0); err != nil {
			return fmt.Errorf("what link %s in %s answers ARP for: %w", link, p, err)
		}
		return nil
	})
}

// ownARP tells which of the host's links answer for their own addresses only, but for those that are ours: of pods' ends, which may be
// hundreds, nobody asks, as of other namespaces.
func (p *place) ownARP(names map[int]string) (own map[string]bool, err error) {
	if !p.own {
		return nil, nil
	}
	own = map[string]bool{}
	err = p.within(func() error {
		for _, name := range names { // in any order: each sets its own element
			if strings.HasPrefix(name, vppwire.DevicePrefix) {
				continue
			}
			value, err := os.ReadFile(arpIgnore(name))
			if errors.Is(err, fs.ErrNotExist) {
				continue // the link is gone, or its name is no file's
			}
			if err != nil {
				return err
			}
			own[name] = bytes.Equal(bytes.TrimSpace(value), []byte("1"))
		}
		return nil
	})
	return own, err
}
