package transcript

import (
	"reflect"
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
)

// Created is the index of the interface that a request made, taken from its answers.
func Created(answers []api.Message) (uint32, bool) {
	if len(answers) != 1 || !strings.Contains(answers[0].GetMessageName(), "create_") && !strings.Contains(answers[0].GetMessageName(), "vxlan_add_del") {
		return 0, false
	}
	v := reflect.ValueOf(answers[0]).Elem()
	if r := v.FieldByName("Retval"); !r.IsValid() || r.Int() != 0 {
		return 0, false
	}
	if f := v.FieldByName("SwIfIndex"); f.IsValid() {
		return uint32(f.Uint()), true
	}
	return 0, false
}

// Renumber lowers every interface index above one in a line by one: for a conversation in which that one is not made.
func Renumber(line string, above uint32) string {
	words := strings.Fields(line)
	for i, w := range words {
		field, value, found := strings.Cut(w, "=")
		if !found || !strings.HasSuffix(field, "sw_if_index") {
			continue
		}
		if n, err := strconv.ParseUint(value, 10, 32); err == nil && uint32(n) > above {
			words[i] = field + "=" + strconv.FormatUint(n-1, 10)
		}
	}
	return strings.Join(words, " ")
}
