package cause

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// readable is a quoted value of an event line as a person reads it: the fields of a JSON object, as "{id: 4, name:
// node-4}", or the quoted text. ok is false for one that is not worth its room: neither whole nor short.
func readable(quoted string, whole bool) (text string, ok bool) {
	if value, err := strconv.Unquote(quoted); err == nil && strings.HasPrefix(value, "{") {
		if f := fields(json.NewDecoder(strings.NewReader(value))); f != "" && (whole || len(f) <= shortValue) {
			return f, true
		} else if f != "" {
			return "", false
		}
	}
	return quoted, whole || len(quoted) <= shortValue
}

// shortValue is the length of values that are never left out.
const shortValue = 40

// fields writes one JSON value without quotes and in its own order, or nothing if it is none. Values that are empty and
// whatever only identifies an object (uid) are left out.
func fields(d *json.Decoder) string {
	d.UseNumber()
	t, err := d.Token()
	if err != nil {
		return ""
	}
	open, nested := t.(json.Delim)
	if !nested {
		return fmt.Sprint(t)
	}
	var parts []string
	for d.More() {
		part, key := "", ""
		if open == '{' {
			k, err := d.Token()
			if err != nil {
				return ""
			}
			key = fmt.Sprint(k)
			part = key + ": "
		}
		value := fields(d)
		if key == "uid" || value == "" {
			continue
		}
		parts = append(parts, part+value)
	}
	if _, err := d.Token(); err != nil {
		return ""
	}
	var out bytes.Buffer
	out.WriteString(string(open))
	out.WriteString(strings.Join(parts, ", "))
	out.WriteString(map[json.Delim]string{'{': "}", '[': "]"}[open])
	return out.String()
}

// journalRecord is a record of a node's journal in words, from its line there; holder names its pod.
func journalRecord(line, holder string) string {
	kind, rest, _ := strings.Cut(line, " ")
	part := strings.Fields(rest)
	field := func(i int) string {
		if i < len(part) {
			return part[i]
		}
		return "-"
	}
	switch kind {
	case "ipam":
		switch op, addr, block := field(0), field(2), field(3); {
		case op == "lease":
			return "lease of " + addr + " to " + holder
		case op == "release":
			return "release of " + addr + " by " + holder
		case block != "-":
			return op + " " + block
		}
	case "sandbox":
		return "sandbox of " + holder + " attached"
	case "gone":
		return "sandbox of " + holder + " gone"
	case "node":
		return "node ID " + field(0)
	}
	return line
}
