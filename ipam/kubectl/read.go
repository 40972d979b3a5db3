package kubectl

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/noun"
)

// Read gives take each object of a text: of objects, of lists of them, or of several of both behind each other. The
// kind of a list's items, which servers leave out, is the list's. An error of take ends it. name says where the text
// comes from.
func Read(name string, text []byte, take func(Object) error) error {
	return Stream(name, bytes.NewReader(text), take)
}

// Stream does the same with a text of any length, and keeps one object of it at a time. Errors of reading it are
// returned as they are.
func Stream(name string, text io.Reader, take func(Object) error) error {
	r := &reader{name: name, take: take}
	r.lines = &lines{text: text}
	if r.next(); r.at == 0 {
		switch {
		case bytes.HasPrefix(r.buf, []byte{0xff, 0xfe}), bytes.HasPrefix(r.buf, []byte{0xfe, 0xff}):
			return &Error{Name: name, Line: 1, Column: 1, Message: "it is UTF-16, as > of Windows PowerShell writes: want " +
				"UTF-8: kubectl get ... -o json | Out-File -Encoding utf8 FILE"}
		case bytes.HasPrefix(r.buf, []byte("\xef\xbb\xbf")): // a byte order mark, as Windows' programs write
			r.at = 3
		}
	}
	for r.next() != 0 {
		r.lines.forget(r.offset())
		if err := r.top(); err != nil {
			return r.located(err)
		}
	}
	if r.end != io.EOF {
		return r.end
	}
	return nil
}

// reader is a text being read.
type reader struct {
	scanner
	name string
	take func(Object) error
}

// rejected is an error of whoever takes objects.
type rejected struct{ error }

// misplaced is an error at an offset of the text; field is what it is about, empty where it is about all.
type misplaced struct {
	at    int64
	field string
	error
}

func (m misplaced) Error() string { return strings.TrimPrefix(m.field+" "+m.error.Error(), " ") }

// misplacedIn is an error within a field.
func misplacedIn(field string, err error) error {
	if bad := (misplaced{}); errors.As(err, &bad) && bad.field != "" {
		bad.field = field + "." + bad.field
		return bad
	}
	return err
}

// part is a key with its value, copied to a position of an object without its items, from an offset of the text.
type part struct {
	position int
	offset   int64
}

// top reads an object or a list. The items of a list are taken one by one; the rest of it, which may say their kind in
// front or behind, is one object.
func (r *reader) top() error {
	if r.next() != '{' {
		raw, begin, err := r.value()
		if err != nil {
			return err
		}
		return r.decode(raw, []part{{0, begin}}, new(Object))
	}
	r.at++
	rest, parts := []byte{'{'}, []part{{0, r.offset() - 1}}
	var waiting []Object // items whose kind comes behind them
	list := false
	for c := r.next(); c != '}'; c = r.next() {
		if len(parts) > 1 || list {
			if c != ',' {
				return r.unexpected(c, "after object key:value pair")
			}
			r.at++
		}
		key, begin, err := r.value()
		if err != nil {
			return err
		}
		if string(key) == `"items"` {
			key = nil
		} else {
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			parts = append(parts, part{len(rest), begin})
			rest = append(rest, key...)
		}
		if c := r.next(); c != ':' {
			return r.unexpected(c, "after object key")
		}
		r.at++
		if key == nil && r.next() == '[' {
			list = true
			var head Object
			if err := r.decode(append(bytes.Clone(rest), '}'), parts, &head); err != nil {
				return err
			}
			if waiting, err = r.items(head, waiting); err != nil {
				return err
			}
			continue
		}
		raw, begin, err := r.value()
		if err != nil {
			return err
		}
		if key == nil {
			list = string(raw) == "null" // what some servers write for none
		} else {
			parts = append(parts, part{len(rest) + 1, begin})
			rest = append(append(rest, ':'), raw...)
		}
	}
	r.at++
	var one Object
	if err := r.decode(append(rest, '}'), parts, &one); err != nil {
		return err
	}
	if !list {
		return r.each(one)
	}
	for _, item := range waiting {
		if err := r.item(item, one); err != nil {
			return err
		}
	}
	return nil
}

// items reads a list's items; head is what the list has said before them. Those whose kind nothing has said yet wait.
func (r *reader) items(head Object, waiting []Object) ([]Object, error) {
	r.at++
	for n := 0; ; n++ {
		c := r.next()
		if c == ']' {
			r.at++
			return waiting, nil
		}
		if n > 0 {
			if c != ',' {
				return nil, r.unexpected(c, "after array element")
			}
			r.at++
		}
		r.next()
		r.lines.forget(r.offset())
		raw, begin, err := r.value()
		if err != nil {
			return nil, err
		}
		var item Object
		if err := r.decode(raw, []part{{0, begin}}, &item); err != nil {
			return nil, misplacedIn("items", err)
		}
		if item.Kind == "" && head.Kind == "" {
			item.Spec, item.Status = bytes.Clone(item.Spec), bytes.Clone(item.Status)
			waiting = append(waiting, item)
		} else if err := r.item(item, head); err != nil {
			return nil, err
		}
	}
}

// item is an object of a list, which says what the object does not.
func (r *reader) item(item, list Object) error {
	if item.Kind == "" {
		item.Kind = strings.TrimSuffix(list.Kind, "List")
	}
	if item.APIVersion == "" && list.Kind != "List" {
		item.APIVersion = list.APIVersion
	}
	return r.each(item)
}

// each takes an object, or the objects of a list within a list.
func (r *reader) each(one Object) error {
	if one.Items != nil {
		for _, item := range one.Items {
			if err := r.item(item, one); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case one.Kind == "" && len(one.ENIs) > 0:
		one.Kind = IPAMD
	case one.Kind == "Status" && one.Message != "":
		return misplaced{r.offset(), "", errors.New("the server's answer was: " + one.Message)}
	case one.Kind == "" || one.Metadata.Name == "" && one.Kind != "List":
		return rejected{errors.New("an object without kind or name: want Kubernetes objects")}
	case one.Kind == "List": // an empty one
		return nil
	}
	if err := r.take(one); err != nil {
		return rejected{err}
	}
	return nil
}

// IPAMD is the kind of what ipamd shows of itself, which has none.
const IPAMD = "IPAMD"

func (r *reader) unexpected(c byte, where string) error {
	if c == 0 {
		return r.over()
	}
	// The decoder's own words, for what stands outside of any value.
	return misplaced{r.offset() + 1, "", errors.New("invalid character '" + string(rune(c)) + "' " + where)}
}

// decode reads an object that was put together of parts of the text.
func (r *reader) decode(raw []byte, parts []part, into *Object) error {
	err := json.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at, message, field := 0, err.Error(), ""
	switch {
	case errors.As(err, &syntax):
		at = int(syntax.Offset)
	case errors.As(err, &kind):
		at = int(kind.Offset)
		what := noun.A(kind.Value)
		message = "it is " + what
		if field = kind.Field; field != "" {
			message = "is " + what
		}
	}
	from := parts[0]
	for _, p := range parts {
		if p.position < at {
			from = p
		}
	}
	return misplaced{from.offset + int64(at-from.position), field, errors.New(message)}
}

// located names the place of an error in the text.
func (r *reader) located(err error) error {
	var own rejected
	var bad misplaced
	e := &Error{Name: r.name, Message: err.Error()}
	at := r.offset()
	switch {
	case errors.As(err, &own):
		return own.error
	case errors.As(err, &bad):
		at = bad.at
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "it is cut off"
	case r.end != nil && r.end != io.EOF && errors.Is(err, r.end) && !errors.Is(err, errTooLong):
		return err
	}
	e.Line, e.Column = r.lines.place(at)
	return e
}
