package endpoint

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
)

// query is a request's parameters. The first one that cannot be read is the request's error.
type query struct {
	form url.Values
	now  time.Time
	err  error
}

func (q *query) refuse(code, format string, args ...any) {
	if q.err == nil {
		q.err = &ec2.APIError{Code: code, Message: fmt.Sprintf(format, args...)}
	}
}

func (q *query) text(name string) string { return q.form.Get(name) }

func (q *query) needed(name string) string {
	v := q.form.Get(name)
	if v == "" {
		q.refuse("MissingParameter", "The request must contain the parameter %s", name)
	}
	return v
}

// number is a parameter from 0, absent as 0.
func (q *query) number(name string) int {
	v := q.form.Get(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		q.refuse(ec2.CodeInvalid, "Value (%s) for parameter %s is invalid.", v, name)
		return 0
	}
	return n
}

func (q *query) flag(name string) bool { return q.form.Get(name) == "true" }

// list is name.1, name.2, …
func (q *query) list(name string) (list []string) {
	for n := 1; q.form.Has(fmt.Sprintf("%s.%d", name, n)); n++ {
		list = append(list, q.form.Get(fmt.Sprintf("%s.%d", name, n)))
	}
	return list
}

// prefixes are the distinct prefixes of a list, addresses among them, ascending.
func (q *query) prefixes(name string) (list []netip.Prefix) {
	for _, text := range q.list(name) {
		p, err := netip.ParsePrefix(text)
		if a, bad := netip.ParseAddr(text); bad == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			q.refuse(ec2.CodeInvalid, "Value (%s) for parameter %s is invalid.", text, name)
			return nil
		}
		list = append(list, p)
	}
	slices.SortFunc(list, netip.Prefix.Compare)
	return slices.Compact(list)
}

// tags are prefix.1.Key and prefix.1.Value, …
func (q *query) tags(prefix string) map[string]string {
	tags := map[string]string{}
	for n := 1; q.form.Has(fmt.Sprintf("%s.%d.Key", prefix, n)); n++ {
		tags[q.form.Get(fmt.Sprintf("%s.%d.Key", prefix, n))] = q.form.Get(fmt.Sprintf("%s.%d.Value", prefix, n))
	}
	return tags
}

// unsupported refuses parameters that the model does not know.
func (q *query) unsupported(names ...string) {
	for _, name := range names {
		if q.form.Has(name) || q.form.Has(name+".1") {
			q.refuse("UnsupportedOperation", "The model of EC2 knows no %s here.", name)
		}
	}
}

// chosen reports whether a thing passes every filter; of says what it has under a filter's name, and whether the model
// knows that name.
func (q *query) chosen(of func(name string) ([]string, bool)) bool {
	for n := 1; q.form.Has(fmt.Sprintf("Filter.%d.Name", n)); n++ {
		name := q.form.Get(fmt.Sprintf("Filter.%d.Name", n))
		has, known := of(name)
		if !known {
			q.refuse(ec2.CodeInvalid, "The filter '%s' is invalid", name)
			return false
		}
		wanted := q.list(fmt.Sprintf("Filter.%d.Value", n))
		if !slices.ContainsFunc(wanted, func(w string) bool { return slices.ContainsFunc(has, func(h string) bool { return like(w, h) }) }) {
			return false
		}
	}
	return true
}

// like matches a filter's value, in which * is any text.
func like(pattern, text string) bool {
	head, tail, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	if !strings.HasPrefix(text, head) {
		return false
	}
	for rest := text[len(head):]; ; rest = rest[1:] {
		if like(tail, rest) {
			return true
		}
		if rest == "" {
			return false
		}
	}
}

// tagged is what a thing has under a filter about tags.
func tagged(tags map[string]string, filter string) ([]string, bool) {
	if key, ok := strings.CutPrefix(filter, "tag:"); ok {
		if v, has := tags[key]; has {
			return []string{v}, true
		}
		return nil, true
	}
	if filter == "tag-key" {
		keys := make([]string, 0, len(tags))
		for k := range tags { // in any order: whether one matches does not depend on it
			keys = append(keys, k)
		}
		return keys, true
	}
	return nil, false
}

// Pages of a listing have at most pageMax things.
const (
	pageMin = 5
	pageMax = 1000
)

// page is the part of a list that a request asks for, and the token of the next part.
func page[T any](q *query, list []T) ([]T, string) {
	size := q.number("MaxResults")
	switch {
	case size == 0:
		size = pageMax
	case size < pageMin || size > pageMax:
		q.refuse(ec2.CodeInvalid, "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", size, pageMin, pageMax)
		return nil, ""
	}
	from := 0
	if token := q.text("NextToken"); token != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(token, "page-"))
		if err != nil || n < 0 || n > len(list) {
			q.refuse(ec2.CodeInvalid, "Invalid value '%s' for nextToken", token)
			return nil, ""
		}
		from = n
	}
	end := min(from+size, len(list))
	if end < len(list) {
		return list[from:end], fmt.Sprintf("page-%d", end)
	}
	return list[from:end], ""
}
