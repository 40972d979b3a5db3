package vppwire

import (
	"path"
	"strings"
)

// MemifFolder is the folder of the host's that a memif's socket is in, and nothing else; it is shared into the pod.
type MemifFolder struct {
	// Path is absolute.
	Path string
	// Socket is the number of the MemifSocket in it, 0 where only a dump has told of the folder.
	Socket uint32
	// Listens: the file of the pod's program is not VPP's to make, whoever owns it.
	Listens bool
	// Settings are what the program must know: name=value, separated by commas, no blanks. A dump does not tell.
	Settings string
}

// Files of a folder: the socket, and the program's settings, one a line.
const (
	MemifFile     = "memif.sock"
	MemifSettings = "interface"
)

// MemifFolderAdd makes a folder with those above it that are missing, for nobody but its owner to write into. One that
// is there is taken if it is a folder of this process' user. So must be the socket in it that VPP is to replace: a file
// that is no socket, or somebody else's, is ErrForeignFile.
type MemifFolderAdd struct {
	Path    string
	Listens bool
	// Settings are written as they are, in place of older ones.
	Settings string
}

// MemifFolderDel removes a folder with what is in it, and the one above it if that is empty then.
type MemifFolderDel struct{ Path string }

func (MemifFolderAdd) linuxOp() {}
func (MemifFolderDel) linuxOp() {}

// Key implements Object.
func (o MemifFolder) Key() Key { return Key{Kind: KindMemifFolder, Name: o.Path} }

// AppendNeeds implements Object.
func (o MemifFolder) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "memif-folder /run/vppdrill/memif/1/eth0 socket 7", "… listens tells mtu=1450".
func (o MemifFolder) AppendText(b []byte) []byte {
	b = appendNumber(appendWord(b, "memif-folder", o.Path), "socket", uint64(o.Socket))
	if o.Listens {
		b = append(b, " listens"...)
	}
	if o.Settings != "" {
		b = appendWord(b, " tells", o.Settings)
	}
	return b
}

func (MemifFolder) parse(p *words) Object {
	o := MemifFolder{Path: p.word()}
	if !path.IsAbs(o.Path) {
		p.fail("%q is no absolute path", o.Path)
	}
	o.Socket, o.Listens = uint32(p.named("socket", 32)), p.has("listens")
	if p.has("tells") {
		o.Settings = p.word()
	}
	return o
}

// like: a dump tells that there is a folder.
func (o MemifFolder) like(found Object) bool { return o.Key() == found.Key() }

func (o MemifFolder) owner() (Key, bool)   { return Key{}, false }
func (o MemifFolder) ours() bool           { return true }
func (o MemifFolder) replaces(Object) bool { return true }
func (o MemifFolder) shown() dumpStep      { return dumpStep{dump: linuxDump} }

// outlivedBy: VPP goes on to listen where a folder was, and nobody finds it in the next one.
func (o MemifFolder) outlivedBy() Key { return MemifSocket{Number: o.Socket}.Key() }

func (o MemifFolder) create(_ *Session, r *request, _ Object) {
	r.apply("linux_memif_folder_add", MemifFolderAdd{Path: o.Path, Listens: o.Listens, Settings: strings.ReplaceAll(o.Settings, ",", "\n")})
}

func (o MemifFolder) delete(_ *Session, r *request) bool {
	r.apply("linux_memif_folder_del", MemifFolderDel{Path: o.Path})
	return true
}

func (MemifFolder) readNetns(s *Session, netns string, state *LinuxState) {
	for _, p := range state.MemifFolders {
		s.observe(MemifFolder{Path: p})
	}
}
