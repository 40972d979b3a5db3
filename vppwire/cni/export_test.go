//go:build linux

package cni

import (
	"reflect"
	"strings"
)

// NetconfFields are the names of what a network configuration may say.
func NetconfFields() (names []string) {
	of := reflect.TypeFor[Netconf]()
	for i := range of.NumField() {
		if tag, ok := of.Field(i).Tag.Lookup("json"); ok {
			name, _, _ := strings.Cut(tag, ",")
			names = append(names, name)
		}
	}
	return names
}
