//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/vm"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// vmInitWord is the hidden command that is a virtual machine's first process.
const vmInitWord = "vm-init"

// vmFlags are the flags of `vppdrill lab vm`.
type vmFlags struct {
	kernel string
	memory int
	cpus   int
	accel  string
	write  []string
}

func vmCommand() *cobra.Command {
	f := vmFlags{}
	cmd := &cobra.Command{
		Use: "vm -- COMMAND…", Short: "Run a command in a virtual machine with taps, netem and VLANs",
		Long: `Run a command of this machine inside a small virtual machine, as root there, and return its exit code. COMMAND is any program
of this machine; vppdrill is this one. The machine sees all files of this one. What it changes is gone with it, except in the
working directory and in folders named by --write. Standard input is empty, and there is no network but the machine's own.

It needs QEMU and a kernel of Debian's package linux-image-amd64, installed or unpacked into a folder; root is not needed.
With /dev/kvm it is fast. vppdrill doctor says what is missing.`,
		Example: `  vppdrill lab vm -- vppdrill doctor
  vppdrill lab vm -- vppdrill lab parity --live --seed 7
  vppdrill lab vm --kernel ./kernel --memory 4096 -- ip link
  vppdrill run pod-tap-node-l2-host-tap --world netns --in-vm`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 || len(args) == 0 {
				return cli.Usagef("lab vm wants a command behind --, as in `vppdrill lab vm -- vppdrill doctor`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runVM(cmd, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kernel, "kernel", "", "`folder` of the kernel, with boot and lib/modules; default "+vm.KernelEnvironment+", or this machine's root")
	flags.IntVar(&f.memory, "memory", 0, "memory in `MB`; default "+vm.MemoryEnvironment+", or "+strconv.Itoa(vm.DefaultMemoryMB))
	flags.IntVar(&f.cpus, "cpus", vm.DefaultCPUs, "`number` of processors")
	flags.StringVar(&f.accel, "accel", "", "`way` of executing: "+vm.AccelKVM+" or "+vm.AccelTCG+"; default "+vm.AccelEnvironment+", or what works")
	flags.StringSliceVar(&f.write, "write", nil, "`folder` whose changes stay, beside the working directory")
	return cmd
}

// InsideVM reports whether this program runs in a virtual machine of lab vm.
func InsideVM() bool { return vm.Inside() }

// AgainInVM runs this program's command line again in a virtual machine; the environment chooses the machine. Only folders of
// write are written to, beside the machine's own memory.
func AgainInVM(ctx context.Context, write []string, out, errOut io.Writer) error {
	c, err := vmConfig(vmFlags{cpus: vm.DefaultCPUs, write: write}, append([]string{"vppdrill"}, os.Args[1:]...))
	if err != nil {
		return err
	}
	c.Stdout, c.Stderr = out, errOut
	return vmRun(ctx, c)
}

func runVM(cmd *cobra.Command, f vmFlags, argv []string) error {
	if vm.Inside() {
		return cli.CannotRun(errors.New("this is a virtual machine of lab vm already"))
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	f.write = append(f.write, dir)
	c, err := vmConfig(f, argv)
	if err != nil {
		return err
	}
	c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	return vmRun(cmd.Context(), c)
}

// vmConfig is a machine for a command line of this one.
func vmConfig(f vmFlags, argv []string) (c vm.Config, err error) {
	self, err := ownProgram()
	if err != nil {
		return c, err
	}
	if argv[0] == "vppdrill" {
		argv = append([]string{self}, argv[1:]...)
	}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return c, cli.Usagef("virtual machine: %s: no such program", argv[0])
	}
	if program, err = filepath.Abs(program); err != nil {
		return c, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return c, err
	}
	c = vm.Config{Init: []string{self, "lab", vmInitWord}, Kernel: f.kernel, MemoryMB: f.memory, CPUs: f.cpus, Accel: f.accel,
		Order: vm.Order{Argv: append([]string{program}, argv[1:]...), Env: os.Environ(), Dir: dir}}
	if c.Accel == "" {
		c.Accel = os.Getenv(vm.AccelEnvironment)
	}
	if c.Accel != "" {
		if err := cli.OneOf("virtual machine: --accel", c.Accel, vm.AccelKVM, vm.AccelTCG); err != nil {
			return c, err
		}
	}
	if c.MemoryMB == 0 {
		if c.MemoryMB, err = vmMemory(); err != nil {
			return c, err
		}
	}
	if c.MemoryMB < vm.MinMemoryMB {
		return c, cli.Usagef("virtual machine: it wants %d MB of memory at least, not %d", vm.MinMemoryMB, c.MemoryMB)
	}
	if most := 64; c.CPUs < 1 || c.CPUs > most {
		return c, cli.Usagef("virtual machine: --cpus %d: from 1 to %d are possible", c.CPUs, most)
	}
	for _, folder := range f.write {
		real, err := filepath.EvalSymlinks(folder)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return c, cli.Usagef("virtual machine: writable folder %s: no such folder", folder)
		}
		switch info, err := os.Stat(real); {
		case err != nil || !info.IsDir():
			return c, cli.Usagef("virtual machine: writable folder %s: it is no folder", folder)
		case real != "/": // which stays this machine's alone
			c.Order.Writable = append(c.Order.Writable, real)
		}
	}
	return c, nil
}

// vmMemory is what the environment says of a machine's memory, in MB, or the default.
func vmMemory() (int, error) {
	text := os.Getenv(vm.MemoryEnvironment)
	if text == "" {
		return vm.DefaultMemoryMB, nil
	}
	mb, err := strconv.Atoi(text)
	if err != nil {
		return 0, cli.Usagef("%s=%s: a number of MB is wanted", vm.MemoryEnvironment, text)
	}
	return mb, nil
}

// vmRun runs a machine and makes an error of its command's exit code.
func vmRun(ctx context.Context, c vm.Config) error {
	c.Say = func(line string) { fmt.Fprintln(cli.Plain(c.Stderr), "vppdrill: "+line) }
	code, err := vm.Run(ctx, c)
	switch {
	case lab.IsCannotRun(err):
		return cli.CannotRun(err)
	case err != nil:
		return cli.BadInput(err)
	case code != 0:
		return cli.Exit{Code: code}
	}
	return nil
}

// vmInitCommand is not for people: it is the first process of a virtual machine.
func vmInitCommand() *cobra.Command {
	return &cobra.Command{
		Use: vmInitWord, Hidden: true, Short: "Be the first process of a virtual machine", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return coded(vm.Main()) },
	}
}
