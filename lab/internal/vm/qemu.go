package vm

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/lab"
)

// program is QEMU's, of Debian's package qemu-system-x86.
const program = "qemu-system-x86_64"

// kvm is what makes a machine fast.
const kvm = "/dev/kvm"

// Ready says in one line what a machine would be made of here, or why none can be.
func Ready(c Config) (what string, err error) {
	qemu, k, err := ready(c)
	if err != nil {
		return "", err
	}
	speed := "without " + kvm + ", slow"
	if c.accels()[0] == AccelKVM {
		speed = "with " + kvm
	}
	return fmt.Sprintf("%s, %s, %s", qemu, k, speed), nil
}

// Words for how QEMU executes a machine: by the processor itself, or in translation.
const (
	AccelKVM = "kvm"
	AccelTCG = "tcg"
)

// AccelEnvironment is the variable with one of these words.
const AccelEnvironment = "VPPDRILL_VM_ACCEL"

// accels are the ways of executing a machine to try, in order.
func (c Config) accels() []string {
	switch {
	case c.Accel != "":
		return []string{c.Accel}
	case hasKVM():
		return []string{AccelKVM, AccelTCG}
	}
	return []string{AccelTCG}
}

// hasKVM reports whether this user may open KVM's device, which does not mean that it works.
func hasKVM() bool {
	f, err := os.OpenFile(kvm, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was written
	return true
}

// ready finds QEMU and the kernel, and sees that there is memory for the machine.
func ready(c Config) (qemu string, k Kernel, err error) {
	if qemu, err = exec.LookPath(program); err != nil {
		return "", k, lab.Cannot("no %s for a virtual machine; `%s`", program, KernelFix)
	}
	if k, err = FindKernel(c.Kernel); err != nil {
		return "", k, err
	}
	if free, want := freeMB(), c.memoryMB(); free > 0 && free < want {
		return "", k, lab.Cannot("the virtual machine wants %d MB of memory, %d MB are free here; --memory or %s chooses another size", want, free, MemoryEnvironment)
	}
	return qemu, k, nil
}

// MemoryEnvironment is the variable with a machine's memory in MB.
const MemoryEnvironment = "VPPDRILL_VM_MEMORY"

func (c Config) memoryMB() int {
	if c.MemoryMB == 0 {
		return DefaultMemoryMB
	}
	return c.MemoryMB
}

func (c Config) cpus() int {
	if c.CPUs == 0 {
		return DefaultCPUs
	}
	return c.CPUs
}

// freeMB is the memory that a new process can have on this machine, 0 where the kernel does not say.
func freeMB() int {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB")) // 0 is unknown
			return kb >> 10
		}
	}
	return 0
}

// kernelLine is what the kernel gets: a console for its last words, an end in place of a second boot after a panic, and
// the first process with its words. The words are this program's own.
func kernelLine(words []string) string {
	return "console=ttyS0 loglevel=4 panic=-1 rdinit=/" + initFile + " -- " + strings.Join(words, " ")
}

// arguments are QEMU's, with the files that it inherits.
type arguments struct {
	words []string
	files []*os.File
}

func (a *arguments) add(words ...string) { a.words = append(a.words, words...) }

// firstInherited is the number of the first file that a process inherits beside its standard streams.
const firstInherited = 3

// inherit hands a file to QEMU and returns its number there.
func (a *arguments) inherit(f *os.File) string {
	a.files = append(a.files, f)
	return strconv.Itoa(firstInherited + len(a.files) - 1)
}

// file is the path at which QEMU finds an inherited file.
func (a *arguments) file(f *os.File) string { return "/proc/self/fd/" + a.inherit(f) }

// machine is the hardware. Processor max is the host's own with KVM, and all that QEMU knows without.
func (a *arguments) machine(c Config, accel string) {
	a.add("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-accel", accel, "-cpu", "max",
		"-m", strconv.Itoa(c.memoryMB()), "-smp", strconv.Itoa(c.cpus()), "-device", "virtio-serial-pci")
}

// folder lets the machine mount a folder of this one by 9p under a tag. Files belong to whoever runs QEMU.
func (a *arguments) folder(tag, path string, readOnly bool) {
	options := "local,id=" + tag + ",path=" + strings.ReplaceAll(path, ",", ",,") + ",security_model=none,multidevs=remap"
	if readOnly {
		options += ",readonly=on"
	}
	a.add("-fsdev", options, "-device", "virtio-9p-pci,fsdev="+tag+",mount_tag="+tag)
}

// port gives the machine a virtio-serial port of that name, or with no name its serial console.
func (a *arguments) port(name string, f *os.File) {
	id := "fd" + a.inherit(f)
	a.add("-chardev", "socket,id="+id+",fd="+strings.TrimPrefix(id, "fd"))
	if name == "" {
		a.add("-device", "isa-serial,chardev="+id)
		return
	}
	a.add("-device", "virtserialport,chardev="+id+",name="+name)
}
