package mutation

import "strconv"

// switchName is the package of the switches, as rewritten files call it.
const switchName = "mutantswitch"

// onExpr tells whether a mutant is on.
func onExpr(number int) string { return switchName + ".On(" + strconv.Itoa(number) + ")" }

// helper opens a call of one of the switches' functions.
func helper(name string, number int) string {
	return switchName + "." + name + "(" + strconv.Itoa(number) + ", "
}

// Variables that tell a planted program what to do.
const (
	// mutantVariable holds the number of the mutant that is on; empty: none.
	mutantVariable = "VPPDRILL_MUTANT"
	// askedVariable names a file with one byte for each number, which becomes 1 once its switch was asked.
	askedVariable = "VPPDRILL_MUTANTS_ASKED"
)

// switches is the source of the package of the switches.
const switches = `// Package ` + switchName + ` turns on the planted fault that the environment names.
package ` + switchName + `

import (
	"cmp"
	"os"
	"strconv"
	"syscall"
)

var (
	on, _ = strconv.Atoi(os.Getenv("` + mutantVariable + `"))
	asked = open(os.Getenv("` + askedVariable + `"))
)

// open maps the file of switches that were asked, so that it is whole however the process ends.
func open(name string) []byte {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	m, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return m
}

func On(n int) bool {
	if asked != nil && asked[n] == 0 {
		asked[n] = 1
	}
	return n == on
}

func Less[T cmp.Ordered](n int, a, b T) bool           { return a < b || a == b && On(n) }
func LessOrEqual[T cmp.Ordered](n int, a, b T) bool    { return a < b || a == b && !On(n) }
func Greater[T cmp.Ordered](n int, a, b T) bool        { return a > b || a == b && On(n) }
func GreaterOrEqual[T cmp.Ordered](n int, a, b T) bool { return a > b || a == b && !On(n) }

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

func Less1[T integer](n int, v T) T {
	if On(n) {
		return v - 1
	}
	return v
}

func Plus1[T integer](n int, v T) T {
	if On(n) {
		return v + 1
	}
	return v
}

func Zero[T any](n int, v T) T {
	if On(n) {
		var zero T
		return zero
	}
	return v
}

func Other[T any](n int, right, wrong T) T {
	if On(n) {
		return wrong
	}
	return right
}

func Swallow(n int, err error) error {
	if err != nil && On(n) {
		return nil
	}
	return err
}
`
