package nodeid

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// RecordFormat is the newest format of node records that this version reads. Format 1 needs no word of it, and this
// version writes nothing newer.
const RecordFormat = 1

// ErrNewer: a record says that whoever ignores what he does not know of it would do harm.
var ErrNewer = errors.New("a newer version has written it")

// ParseRecord reads a record. Fields may come in any order and unknown ones are ignored, as records of other writers
// and of newer versions may have them; ErrNewer where the record forbids that. The strings of the result may share
// text's memory.
func ParseRecord(text string) (Record, error) {
	var w recordWire
	if !w.scan(text) {
		w = recordWire{}
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			return Record{}, fmt.Errorf("node record %q: %w", text, cmp.Or(newer(text), err))
		}
	}
	n, err := w.info()
	if err != nil {
		return Record{}, fmt.Errorf("node record %q: %w", text, err)
	}
	return n, nil
}

// newer is ErrNewer where nothing but the format of a record can be read and says so.
func newer(text string) error {
	var w struct {
		Format uint32 `json:"format"`
	}
	if json.Unmarshal([]byte(text), &w) != nil {
		return nil
	}
	return tooNew(w.Format)
}

func tooNew(format uint32) error {
	if format <= RecordFormat {
		return nil
	}
	return fmt.Errorf("%w: it needs a reader of format %d, and this version reads up to %d", ErrNewer, format, RecordFormat)
}

// recordWire is a record before its addresses are parsed.
type recordWire struct {
	ID          uint32   `json:"id"`
	Name        string   `json:"name"`
	UID         string   `json:"uid"`
	Address     string   `json:"ip_address"`
	Management  string   `json:"management_ip_address"`
	PodNetworks []string `json:"pod_networks"`
	HostNetwork string   `json:"host_network"`
	VXLAN       string   `json:"vxlan"`
	ReleasedAt  string   `json:"released_at"`
	Format      uint32   `json:"format"`

	SecondAddress     string `json:"second_ip_address"`
	SecondHostNetwork string `json:"second_host_network"`
	SecondVXLAN       string `json:"second_vxlan"`
}

func (w *recordWire) info() (Record, error) {
	n := Record{ID: w.ID, Name: w.Name, UID: w.UID}
	err := tooNew(w.Format)
	if err != nil {
		return n, err
	}
	if w.Address != "" {
		if n.Address, err = netip.ParsePrefix(w.Address); err != nil {
			return n, fmt.Errorf("ip_address: %w", err)
		}
	}
	for rest := w.Management; rest != ""; {
		var one string
		one, rest, _ = strings.Cut(rest, ",")
		m, err := parseAddr(strings.TrimSpace(one))
		if err != nil {
			return n, fmt.Errorf("management_ip_address: %w", err)
		}
		n.Management = append(n.Management, m)
	}
	for _, one := range w.PodNetworks {
		p, err := netip.ParsePrefix(one)
		if err != nil {
			return n, fmt.Errorf("pod_networks: %w", err)
		}
		n.PodNetworks = append(n.PodNetworks, p.Masked())
	}
	if w.HostNetwork != "" {
		if n.HostNetwork, err = netip.ParsePrefix(w.HostNetwork); err != nil {
			return n, fmt.Errorf("host_network: %w", err)
		}
		n.HostNetwork = n.HostNetwork.Masked()
	}
	if w.VXLAN != "" {
		if n.VXLAN, err = parseAddr(w.VXLAN); err != nil {
			return n, fmt.Errorf("vxlan: %w", err)
		}
	}
	if err := w.second(&n); err != nil {
		return n, err
	}
	if w.ReleasedAt != "" {
		if n.ReleasedAt, err = time.Parse(time.RFC3339Nano, w.ReleasedAt); err != nil {
			return n, fmt.Errorf("released_at: %w", err)
		}
		n.ReleasedAt = n.ReleasedAt.UTC()
		if y := n.ReleasedAt.Year(); y < 0 || y > 9999 {
			return n, fmt.Errorf("released_at %s: year %d cannot be written back", w.ReleasedAt, y)
		}
	}
	return n, nil
}

// second reads what a record says of the second family.
func (w *recordWire) second(n *Record) (err error) {
	if w.SecondAddress != "" {
		if n.SecondAddress, err = netip.ParsePrefix(w.SecondAddress); err != nil {
			return fmt.Errorf("second_ip_address: %w", err)
		}
	}
	if w.SecondHostNetwork != "" {
		if n.SecondHostNetwork, err = netip.ParsePrefix(w.SecondHostNetwork); err != nil {
			return fmt.Errorf("second_host_network: %w", err)
		}
		n.SecondHostNetwork = n.SecondHostNetwork.Masked()
	}
	if w.SecondVXLAN != "" {
		if n.SecondVXLAN, err = parseAddr(w.SecondVXLAN); err != nil {
			return fmt.Errorf("second_vxlan: %w", err)
		}
	}
	return nil
}

// parseAddr reads an address without a zone: zones mean nothing on another machine.
func parseAddr(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(text)
	if err == nil && a.Zone() != "" {
		err = fmt.Errorf("address %q has a zone", text)
	}
	return a, err
}

// scan reads the canonical form without allocating more than the network list; false for any other JSON, which goes
// to the general parser. A thousand agents read a thousand records each, and all of them are canonical.
func (w *recordWire) scan(text string) bool {
	s := scanner{rest: text}
	ok := s.skip(`{"id":`) && s.number(&w.ID) &&
		s.skip(`,"name":`) && s.quoted(&w.Name) &&
		s.skip(`,"uid":`) && s.quoted(&w.UID) &&
		s.skip(`,"ip_address":`) && s.quoted(&w.Address) &&
		s.skip(`,"management_ip_address":`) && s.quoted(&w.Management) &&
		s.skip(`,"pod_networks":[`)
	if !ok {
		return false
	}
	for !s.skip(`]`) {
		var one string
		if len(w.PodNetworks) > 0 && !s.skip(`,`) || !s.quoted(&one) {
			return false
		}
		w.PodNetworks = append(w.PodNetworks, one)
	}
	for _, f := range [...]struct {
		label string
		to    *string
	}{{`,"host_network":`, &w.HostNetwork}, {`,"vxlan":`, &w.VXLAN}, {`,"second_ip_address":`, &w.SecondAddress},
		{`,"second_host_network":`, &w.SecondHostNetwork}, {`,"second_vxlan":`, &w.SecondVXLAN}, {`,"released_at":`, &w.ReleasedAt}} {
		if s.skip(f.label) && !s.quoted(f.to) {
			return false
		}
	}
	return s.rest == "}"
}

type scanner struct{ rest string }

func (s *scanner) skip(literal string) bool {
	rest, ok := strings.CutPrefix(s.rest, literal)
	s.rest = rest
	return ok
}

func (s *scanner) number(to *uint32) bool {
	i := 0
	for i < len(s.rest) && s.rest[i] >= '0' && s.rest[i] <= '9' {
		i++
	}
	n, err := strconv.ParseUint(s.rest[:i], 10, 32)
	*to, s.rest = uint32(n), s.rest[i:]
	return err == nil
}

// quoted reads a string without escapes and control characters.
func (s *scanner) quoted(to *string) bool {
	if s.rest == "" || s.rest[0] != '"' {
		return false
	}
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			*to, s.rest = s.rest[1:i], s.rest[i+1:]
			return true
		case c == '\\' || c < ' ' || c >= 0x7f:
			return false
		}
	}
	return false
}
