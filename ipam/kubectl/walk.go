package kubectl

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Large clusters are as good as only pods, and of a pod only a few fields count: those are found in its text without
// building the rest. Whatever is not as plain as servers write it goes to encoding/json, which also says what is wrong.

// walker goes through the fields of an object that is known to be valid JSON.
type walker struct {
	raw []byte
	at  int
	// odd: a key is written with escapes, so that nothing is known of the object.
	odd bool
}

// object begins the fields of an object, elements those of an array; ok: it is one.
func object(raw []byte) (w walker, ok bool)   { return begin(raw, '{') }
func elements(raw []byte) (w walker, ok bool) { return begin(raw, '[') }

func begin(raw []byte, c byte) (w walker, ok bool) {
	w = walker{raw: raw}
	w.space()
	if w.at >= len(raw) || raw[w.at] != c {
		return w, false
	}
	w.at++
	return w, true
}

// space skips spaces and what parts fields.
func (w *walker) space() {
	for w.at < len(w.raw) {
		switch w.raw[w.at] {
		case ' ', '\n', '\t', '\r', ',', ':':
			w.at++
		default:
			return
		}
	}
}

// field is the next field of an object.
func (w *walker) field() (key, value []byte, more bool) {
	if value, more = w.element(); !more {
		return nil, nil, false
	}
	key = value[1 : len(value)-1]
	if bytes.IndexByte(key, '\\') >= 0 {
		w.odd = true
	}
	value, more = w.element()
	return key, value, more
}

// element is the next element of an array.
func (w *walker) element() (value []byte, more bool) {
	w.space()
	if w.at >= len(w.raw) || w.raw[w.at] == '}' || w.raw[w.at] == ']' {
		return nil, false
	}
	from := w.at
	switch w.raw[w.at] {
	case '"':
		w.text()
	case '{', '[':
		for depth := 0; ; {
			switch w.raw[w.at] {
			case '"':
				w.text()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if w.at++; depth == 0 {
				break
			}
		}
	default:
		for w.at < len(w.raw) && bytes.IndexByte([]byte(" \n\t\r,}]"), w.raw[w.at]) < 0 {
			w.at++
		}
	}
	return w.raw[from:w.at], true
}

// text skips a text.
func (w *walker) text() {
	for w.at++; ; w.at++ {
		switch w.raw[w.at] {
		case '\\':
			w.at++
		case '"':
			w.at++
			return
		}
	}
}

// plain is the text of a value without escapes; null is the empty one.
func plain(value []byte) (text string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", string(value) == "null"
	}
	in := value[1 : len(value)-1]
	if bytes.IndexByte(in, '\\') >= 0 {
		err := json.Unmarshal(value, &text)
		return text, err == nil
	}
	return string(in), utf8.Valid(in)
}

// quick reads an object as servers write them; ok: it is one. raw is valid JSON, and the object's parts lie in it.
func (o *Object) quick(raw []byte) (ok bool) {
	w, ok := object(raw)
	for ok {
		key, value, more := w.field()
		if !more {
			return !w.odd
		}
		switch string(key) {
		case "apiVersion":
			o.APIVersion, ok = plain(value)
		case "kind":
			o.Kind, ok = plain(value)
		case "metadata":
			ok = o.Metadata.quick(value)
		case "spec":
			o.Spec = value
		case "status":
			o.Status = value
		case "data", "binaryData", "rules", "subjects", "webhooks", "webhook", "roleRef", "subsets", "type",
			"provisioner": // of kinds that say nothing here
		default:
			return false
		}
	}
	return false
}

// quick does the same with what objects have in common.
func (m *Metadata) quick(raw []byte) (ok bool) {
	w, ok := object(raw)
	for ok {
		key, value, more := w.field()
		if !more {
			return !w.odd
		}
		switch string(key) {
		case "name":
			m.Name, ok = plain(value)
		case "namespace":
			m.Namespace, ok = plain(value)
		case "labels":
			m.Labels, ok = texts(value)
		case "annotations":
			m.Annotations, ok = texts(value)
		case "creationTimestamp":
			ok = json.Unmarshal(value, &m.Created) == nil
		case "deletionTimestamp":
			ok = json.Unmarshal(value, &m.Deleted) == nil
		case "ownerReferences":
			ok = json.Unmarshal(value, &m.Owners) == nil
		}
	}
	return false
}

// texts reads an object whose values are texts.
func texts(raw []byte) (list map[string]string, ok bool) {
	if string(raw) == "null" {
		return nil, true
	}
	w, ok := object(raw)
	list = map[string]string{}
	for ok {
		key, value, more := w.field()
		if !more {
			return list, !w.odd
		}
		list[string(key)], ok = plain(value)
	}
	return nil, false
}

// quick reads a pod's spec and status as servers write them.
func (p *Pod) quick(spec, status []byte) (ok bool) {
	if len(spec) > 0 {
		w, ok := object(spec)
		for ok {
			key, value, more := w.field()
			if !more {
				break
			}
			switch string(key) {
			case "nodeName":
				p.Node, ok = plain(value)
			case "hostNetwork":
				p.HostNetwork = string(value) == "true"
				ok = p.HostNetwork || string(value) == "false"
			}
		}
		if !ok || w.odd {
			return false
		}
	}
	if len(status) == 0 {
		return true
	}
	phase, ip := "", ""
	w, ok := object(status)
	for ok {
		key, value, more := w.field()
		if !more {
			break
		}
		switch string(key) {
		case "phase":
			phase, ok = plain(value)
		case "podIP":
			ip, ok = plain(value)
		case "podIPs":
			ok = p.addresses(value)
		}
	}
	if !ok || w.odd {
		return false
	}
	p.Over = over(phase)
	if len(p.Addrs) == 0 {
		p.Addrs = Addrs(ip)
	}
	return true
}

// addresses reads podIPs.
func (p *Pod) addresses(raw []byte) (ok bool) {
	if string(raw) == "null" {
		return true
	}
	p.Addrs = nil // the last one counts
	list, ok := elements(raw)
	for ok {
		one, more := list.element()
		if !more {
			return true
		}
		var w walker
		w, ok = object(one)
		for ok {
			key, value, more := w.field()
			if !more {
				break
			}
			if string(key) == "ip" {
				var text string
				text, ok = plain(value)
				p.Addrs = append(p.Addrs, Addrs(text)...)
			}
		}
		ok = ok && !w.odd
	}
	return false
}
