package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
)

// modelFlags are the flags of `vppdrill vpp-model`.
type modelFlags struct {
	socket string
	nics   []string
	format cli.Format
}

func vppModelCommand() *cobra.Command {
	var f modelFlags
	cmd := &cobra.Command{
		Use:   "vpp-model --socket PATH",
		Short: "Serve a modelled VPP on a socket, for any program that speaks to VPP",
		Long: `Serve a modelled VPP on a unix socket in VPP's binary API: programs on govpp's client connect to it unchanged. Every tap and
AF_PACKET interface works, and no packet is forwarded. The command line of VPP answers "show version" and "show state",
which prints everything the model holds. It runs until it is interrupted, and removes the socket then.`,
		Example: `  vppdrill vpp-model --socket /tmp/vpp.sock
  vppdrill vpp-model --socket /tmp/vpp.sock --nic GigabitEthernet0/8/0 --nic GigabitEthernet0/9/0`,
		Args: cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return serveModel(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.socket, "socket", "", "path of the socket, at most 107 bytes")
	flags.StringArrayVar(&f.nics, "nic", nil, "a NIC that the VPP has, by VPP's name for it; may be given more than once")
	cli.AddFormatTo(flags, &f.format)
	return cmd
}

func serveModel(cmd *cobra.Command, f modelFlags) error {
	if f.socket == "" {
		return cli.Usagef("vpp-model: wants --socket PATH; see vppdrill vpp-model --help")
	}
	model := vppmodel.Config{PID: uint32(os.Getpid())}
	seen := map[string]bool{"local0": true}
	for _, n := range f.nics {
		if n == "" || len(n) > 63 || strings.ContainsAny(n, " \t\n") || seen[n] {
			return cli.Usagef("vpp-model: --nic %q: want names of 1 to 63 bytes without spaces, each once", n)
		}
		seen[n] = true
		model.NICs = append(model.NICs, vppmodel.NIC{Name: n})
	}
	s, err := socket.Listen(socket.Config{Path: f.socket, VPP: vppmodel.New(model),
		Log: func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), "vppdrill: vpp-model: "+line) }})
	switch {
	case errors.Is(err, fs.ErrPermission):
		return cli.CannotRun(fmt.Errorf("vpp-model: --socket %s: %w", f.socket, err))
	case err != nil:
		return cli.Usagef("vpp-model: --socket: %s", cli.FirstLine(err.Error()))
	}
	if f.format == cli.JSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			Socket   string `json:"socket"`
			Version  string `json:"version"`
			Messages int    `json:"messages"`
			PID      uint32 `json:"pid"`
		}{f.socket, vppmodel.Version, s.Messages(), model.PID})
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "modelled VPP %s on %s, %d messages\n", vppmodel.Version, f.socket, s.Messages())
	}
	if err == nil {
		<-cmd.Context().Done()
	}
	return errors.Join(err, s.Close())
}
