package parity_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.fd.io/govpp/adapter/socketclient"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vlib"
	"go.fd.io/govpp/codec"
	"go.fd.io/govpp/core"

	"github.com/vppdrill/vppdrill/sim/parity"
)

const numbersFile = "../vppmodel/socket/numbers.txt"

const numbersHead = `# Numbers of messages as VPP 25.10-release gives them: a module with its CRC, its first number, its messages in their order.
# Made by VPPDRILL_VPP=PATH go test ./sim/parity -run TestNumbers -rewrite
`

// Goal: the model's messages have the numbers that a real VPP gives them: VPP's own test client and its C library work with numbers within
// a module. Method: a real VPP is asked for its table of names and for its modules' ranges; -rewrite writes what it says.
func TestNumbers(t *testing.T) {
	ctx := context.Background()
	api, _, stop, err := parity.StartVPP(ctx, realVPP(t))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	conn, err := core.Connect(socketclient.NewVppClient(api))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Disconnect()
	said, err := vlib.NewServiceClient(conn).CliInband(ctx, &vlib.CliInband{Cmd: "show api plugin"})
	if err != nil {
		t.Fatal(err)
	}
	table, err := messageTable(api)
	if err != nil {
		t.Fatal(err)
	}
	got := numbers(said.Reply, table)
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(numbersFile, []byte(numbersHead+got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(numbersFile)
	if err != nil {
		t.Fatal(err)
	}
	// First numbers depend on which plugins a VPP has loaded; what a module is and the order within do not.
	compared, modules := 0, byModule(string(kept))
	for name, messages := range byModule(got) {
		if want, known := modules[name]; known {
			compared++
			if messages != want {
				t.Errorf("%s: VPP has %s\nthe model %s", name, messages, want)
			}
		}
	}
	if compared < len(modules)/2 {
		t.Skipf("needs VPP 25.10: only %d of %d modules have the same CRC", compared, len(modules))
	}
}

// byModule is a file of numbers as messages by module.
func byModule(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 2 && words[0] != "#" {
			all[words[0]] = strings.Join(words[2:], " ")
		}
	}
	return all
}

// numbers writes VPP's table, by what its command line says of ranges. What is before the first range is memclnt's, whose numbers never
// change.
func numbers(ranges string, table []memclnt.MessageTableEntry) string {
	names := map[int]string{}
	for _, e := range table {
		name, _, _ := strings.Cut(e.Name, "\x00")
		names[int(e.Index)] = name[:strings.LastIndexByte(name, '_')]
	}
	type module struct {
		name        string
		first, last int
	}
	var all []module
	for line := range strings.Lines(ranges) {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		m := module{name: words[0]}
		var err error
		if m.first, err = strconv.Atoi(words[1]); err == nil {
			if m.last, err = strconv.Atoi(words[2]); err == nil {
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Compare(a.first, b.first) })
	if len(all) > 0 {
		all = slices.Insert(all, 0, module{"memclnt", 1, all[0].first - 1})
	}
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "%s %d", m.name, m.first)
		for n := m.first; n <= m.last; n++ {
			b.WriteString(" " + cmp.Or(names[n], "-"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// messageTable is what a VPP tells a client on connecting; govpp keeps it to itself.
func messageTable(path string) ([]memclnt.MessageTableEntry, error) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	data, err := codec.DefaultCodec.EncodeMsg(&memclnt.SockclntCreate{Name: "numbers"}, 15)
	if err != nil {
		return nil, err
	}
	frame := make([]byte, 16, 16+len(data))
	binary.BigEndian.PutUint32(frame[8:], uint32(len(data)))
	if _, err := conn.Write(append(frame, data...)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, frame[:16]); err != nil {
		return nil, err
	}
	data = make([]byte, binary.BigEndian.Uint32(frame[8:]))
	if _, err := io.ReadFull(conn, data); err != nil {
		return nil, err
	}
	r := &memclnt.SockclntCreateReply{}
	err = codec.DefaultCodec.DecodeMsg(data, r)
	return r.MessageTable, err
}
