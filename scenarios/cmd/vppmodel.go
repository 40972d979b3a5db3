package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
)

// modelFlags are the flags of `vppdrill lab model`.
type modelFlags struct {
	socket string
	nics   []string
	faults []string
	seed   uint64
	delay  time.Duration
	log    bool
	format cli.Format
}

// ModelCommands are those about the modelled VPP, alone and beside a real one, and about the modelled EC2. They belong to
// `vppdrill lab`, which must not know the models, so main puts them there.
func ModelCommands() []*cobra.Command {
	return []*cobra.Command{vppModelCommand(), parityCommand(), ec2ModelCommand()}
}

func vppModelCommand() *cobra.Command {
	var f modelFlags
	cmd := &cobra.Command{
		Use:   "model --socket PATH",
		Short: "Serve a modelled VPP on a socket for any govpp program",
		Long: `Serve a modelled VPP on a unix socket in VPP's binary API. Programs on govpp's client connect to it unchanged, and so do
VPP's own vpp_api_test, its C library VAPI and its Python client vpp_papi. Taps and AF_PACKET interfaces work; packets are not
forwarded. A request that VPP has and the model has not is answered by -9, Unimplemented, where its reply has a retval. VPP's command
line answers "show version", "show interface" and "show state", which prints everything that the model holds.

--fault lets requests fail, in the words of vppdrill describe faults: Refuse answers with a retval, Vanish loses the request,
Mute the answer, Delay and Duplicate do that; Request, Nth, First, After, Prob and During say which. The server runs until it is interrupted, and removes the socket then.`,
		Example: `  vppdrill lab model --socket /tmp/vpp.sock
  vppdrill lab model --socket /tmp/vpp.sock --nic GigabitEthernet0/8/0 --nic GigabitEthernet0/9/0
  vppdrill lab model --socket /tmp/vpp.sock --log --fault '(Request ip_route_add_del (Nth 3 (Refuse -68)))' --fault '(Prob 0.01 Mute)'`,
		Args: cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return serveModel(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.socket, "socket", "", "path of the socket, at most 107 bytes")
	flags.StringArrayVar(&f.nics, "nic", nil, "a NIC of the VPP, by VPP's name for it; repeated")
	flags.StringArrayVar(&f.faults, "fault", nil, "an `injector` of requests, as (Request NAME (Nth 2 (Refuse -68))); repeated, the first that does not pass decides")
	flags.Uint64Var(&f.seed, "seed", 1, "draws what faults leave to chance")
	flags.DurationVar(&f.delay, "delay", 0, "how much later each request is performed")
	flags.BoolVar(&f.log, "log", false, "print each request with what came of it, on standard error")
	cli.AddFormatTo(flags, &f.format)
	return cmd
}

func serveModel(cmd *cobra.Command, f modelFlags) error {
	if f.socket == "" {
		return cli.Usagef("lab model: wants --socket PATH; see vppdrill lab model --help")
	}
	model := vppmodel.Config{PID: uint32(os.Getpid())}
	seen := map[string]bool{"local0": true}
	for _, n := range f.nics {
		if n == "" || len(n) > 63 || strings.ContainsAny(n, " \t\n") || seen[n] {
			return cli.Usagef("lab model: --nic %q: want names of 1 to 63 bytes without spaces, each once", n)
		}
		seen[n] = true
		model.NICs = append(model.NICs, vppmodel.NIC{Name: n})
	}
	say := func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), "vppdrill: lab model: "+line) }
	cfg := socket.Config{Path: f.socket, VPP: vppmodel.New(model), Log: say, Faults: f.faults, Seed: f.seed}
	if f.log {
		cfg.Requests = say
	}
	switch {
	case f.delay < 0:
		return cli.Usagef("lab model: --delay %s is negative", f.delay)
	case f.delay > 0: // after all others: it is what else happens
		cfg.Faults = append(cfg.Faults, "(Delay "+f.delay.String()+")")
	}
	s, err := socket.Listen(cfg)
	if bad := (*socket.BadFault)(nil); errors.As(err, &bad) {
		return cli.Usagef("lab model: --%w", bad)
	}
	if err != nil {
		return cannotListen("lab model: --socket", f.socket, err)
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

// cannotListen says why a command's flag names no address to listen at: it is not allowed here, or is none.
func cannotListen(flag, where string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return cli.CannotRun(fmt.Errorf("%s %s: %w", flag, where, err))
	}
	return cli.Usagef("%s: %s", flag, cli.FirstLine(err.Error()))
}
