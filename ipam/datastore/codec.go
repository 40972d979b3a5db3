package datastore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// Names of fields that this package understands.
const (
	nameVersion     = "version"
	nameAllocations = "allocations"
	nameCooling     = "cooling"
	nameQuarantined = "quarantined"
	nameNetwork     = "networkName"
	nameContainer   = "containerID"
	nameIf          = "ifName"
	nameIPv4        = "ipv4"
	nameReleased    = "released"
)

// ParseCheckpoint reads a stored checkpoint of any version. Entries that make no sense end up in Damaged; an error says
// that the document as a whole is none.
func ParseCheckpoint(text []byte) (CheckpointData, error) {
	var d CheckpointData
	fields, err := parseObject(text)
	if err != nil {
		return CheckpointData{}, fmt.Errorf("checkpoint: %w", err)
	}
	for _, f := range fields {
		if err := d.take(f); err != nil {
			return CheckpointData{}, fmt.Errorf("checkpoint: field %q: %w", f.Name, err)
		}
	}
	return d, nil
}

func (d *CheckpointData) take(f Field) error {
	if f.Name == nameVersion {
		return json.Unmarshal(f.Value, &d.Version)
	}
	judge, ok := map[string]func(raw []byte){
		nameAllocations: d.takeAllocation,
		nameCooling:     d.takeCooling,
		nameQuarantined: func(raw []byte) { d.damage(raw, errors.New("it was quarantined before")) },
	}[f.Name]
	if !ok {
		d.Extra = append(d.Extra, f)
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(f.Value, &list); err != nil {
		return err
	}
	for _, raw := range list {
		judge(raw)
	}
	return nil
}

func (d *CheckpointData) takeAllocation(raw []byte) {
	e, err := parseEntry(raw)
	if err != nil {
		d.damage(raw, err)
		return
	}
	d.Allocations = append(d.Allocations, e)
}

func (d *CheckpointData) takeCooling(raw []byte) {
	e, err := parseEntry(raw)
	var ns int64
	if e.IPv4.IsValid() {
		err = errors.New("no time of release")
		if i := slices.IndexFunc(e.Extra, func(f Field) bool { return f.Name == nameReleased }); i >= 0 {
			err = json.Unmarshal(e.Extra[i].Value, &ns)
		}
	}
	if err != nil {
		d.damage(raw, err)
		return
	}
	d.Cooling = append(d.Cooling, CoolingEntry{IPv4: e.IPv4, Released: time.Unix(0, ns).UTC()})
}

// damage keeps an entry with as much as can be read of it.
func (d *CheckpointData) damage(raw []byte, why error) {
	e, _ := parseEntry(raw)
	d.Damaged = append(d.Damaged, DamagedEntry{IPAMKey: e.IPAMKey, IPv4: e.IPv4, Raw: compact(raw), Why: why.Error()})
}

// parseEntry reads an allocation. With an error it returns what could be read.
func parseEntry(raw []byte) (CheckpointEntry, error) {
	var e CheckpointEntry
	fields, err := parseObject(raw)
	if err != nil {
		return CheckpointEntry{}, err
	}
	var text string
	known := map[string]*string{
		nameNetwork: &e.NetworkName, nameContainer: &e.ContainerID, nameIf: &e.IfName, nameIPv4: &text,
	}
	for _, f := range fields {
		into, ok := known[f.Name]
		if !ok {
			e.Extra = append(e.Extra, f)
			continue
		}
		if wrong := json.Unmarshal(f.Value, into); wrong != nil {
			err = fmt.Errorf("field %q: %w", f.Name, wrong)
		}
	}
	addr, wrong := netip.ParseAddr(text)
	if addr = addr.Unmap(); wrong == nil && addr.Is4() {
		e.IPv4 = addr
	}
	switch {
	case err != nil:
		return e, err
	case !e.IPv4.IsValid():
		return e, fmt.Errorf("%q is no IPv4 address", text)
	case !e.IPAMKey.Valid():
		return e, ErrInvalidKey
	}
	return e, nil
}

// parseObject reads one JSON object with its members in order. The same name twice is an error: readers differ in which
// one they take.
func parseObject(text []byte) ([]Field, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("not an object: %w", notNil(err))
	}
	var fields []Field
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if !ok {
			return nil, fmt.Errorf("%v is no name", t)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			return nil, fmt.Errorf("field %q is there twice", name)
		}
		fields = append(fields, Field{Name: name, Value: compact(value)})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if rest := bytes.TrimSpace(text[dec.InputOffset():]); len(rest) > 0 {
		return nil, errors.New("something follows the object")
	}
	return fields, nil
}

// notNil is err, or what to say when a token was read but is another one.
func notNil(err error) error {
	if err == nil {
		return errors.New("something else")
	}
	return err
}

// compact is raw, which is valid JSON, without white space. Line separators U+2028 and U+2029 are escaped, as json
// does.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		panic(fmt.Sprintf("datastore: %q was read as JSON before: %v", raw, err))
	}
	return b.Bytes()
}

// AppendJSON appends the checkpoint as one line of JSON; ParseCheckpoint reads it back.
func (d CheckpointData) AppendJSON(b []byte) []byte {
	b = append(b, `{"version":`...)
	b = appendString(b, d.Version)
	b = append(b, `,"allocations":[`...)
	for i, e := range d.Allocations {
		b = separate(b, i)
		b = e.appendJSON(b)
	}
	b = append(b, ']')
	for i, e := range d.Cooling {
		if i == 0 {
			b = append(b, `,"cooling":[`...)
		}
		b = separate(b, i)
		b = append(b, `{"ipv4":"`...)
		b = e.IPv4.AppendTo(b)
		b = append(b, `","released":`...)
		b = strconv.AppendInt(b, e.Released.UnixNano(), 10)
		b = append(b, '}')
	}
	if len(d.Cooling) > 0 {
		b = append(b, ']')
	}
	for i, e := range d.Damaged {
		if i == 0 {
			b = append(b, `,"quarantined":[`...)
		}
		b = append(separate(b, i), e.Raw...)
	}
	if len(d.Damaged) > 0 {
		b = append(b, ']')
	}
	return append(appendFields(b, d.Extra), '}')
}

func (e CheckpointEntry) appendJSON(b []byte) []byte {
	b = append(b, `{"networkName":`...)
	b = appendString(b, e.NetworkName)
	b = append(b, `,"containerID":`...)
	b = appendString(b, e.ContainerID)
	b = append(b, `,"ifName":`...)
	b = appendString(b, e.IfName)
	b = append(b, `,"ipv4":"`...)
	b = e.IPv4.AppendTo(b)
	b = append(b, '"')
	return append(appendFields(b, e.Extra), '}')
}

func separate(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func appendFields(b []byte, fields []Field) []byte {
	for _, f := range fields {
		b = append(b, ',')
		b = appendString(b, f.Name)
		b = append(b, ':')
		b = append(b, f.Value...)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(fmt.Sprintf("datastore: string %q: %v", s, err)) // strings always marshal
			}
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// MarshalJSON implements json.Marshaler.
func (d CheckpointData) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler with ParseCheckpoint.
func (d *CheckpointData) UnmarshalJSON(text []byte) error {
	parsed, err := ParseCheckpoint(text)
	if err == nil {
		*d = parsed
	}
	return err
}
