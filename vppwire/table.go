package vppwire

import (
	"strconv"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip"
)

// Table is a VRF's forwarding table. Table 0 exists without being wanted.
type Table struct {
	ID uint32
	// IP6 makes it the IPv6 table of that ID.
	IP6 bool
}

func tableKey(id uint32, ip6 bool) Key {
	k := Key{Kind: KindTable, Num: id}
	if ip6 {
		k.Name = "ip6"
	}
	return k
}

// needTable appends the table unless it is one that always exists.
func needTable(keys []Key, id uint32, ip6 bool) []Key {
	if id == 0 {
		return keys
	}
	return append(keys, tableKey(id, ip6))
}

// Key implements Object.
func (o Table) Key() Key { return tableKey(o.ID, o.IP6) }

// AppendNeeds implements Object: a table needs nothing.
func (o Table) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "table 1", "table 1 ip6".
func (o Table) AppendText(b []byte) []byte {
	b = appendUint(append(b, "table "...), o.ID)
	if o.IP6 {
		b = append(b, " ip6"...)
	}
	return b
}

func (Table) parse(p *words) Object { return Table{ID: uint32(p.number(32)), IP6: p.has("ip6")} }

func (o Table) owner() (Key, bool)   { return Key{}, false }
func (o Table) ours() bool           { return true }
func (o Table) replaces(Object) bool { return true }
func (o Table) shown() dumpStep      { return dumpStep{dump: tableDump} }

type tableMessages struct {
	table      ip.IPTableAddDelV2
	tableReply ip.IPTableAddDelV2Reply
}

func (Table) messages() []api.Message {
	m := new(tableMessages)
	return []api.Message{&m.table, &m.tableReply}
}

func (o Table) fill(s *Session, r *request, add bool) {
	m := buffers[tableMessages](s, KindTable)
	t := &m.table
	t.Table.TableID, t.Table.IsIP6, t.Table.Name = o.ID, o.IP6, "vrf-"+strconv.FormatUint(uint64(o.ID), 10)
	t.CreateMfib, t.IsAdd = true, add
	r.invoke(t, &m.tableReply, &m.tableReply.Retval)
}

func (o Table) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Table) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

var tableDump = &dump{whole: true, reader: tableReader{}}

type tableReader struct{}

func (tableReader) messages() []api.Message {
	return []api.Message{&ip.IPTableDump{}, &ip.IPTableDetails{}}
}

func (tableReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&ip.IPTableDump{}) }

// take queues a look at the routes of each table that may hold some of ours.
func (tableReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*ip.IPTableDetails)
		if !ok {
			continue
		}
		if d.Table.TableID != 0 {
			s.observe(Table{ID: d.Table.TableID, IP6: d.Table.IsIP6})
		}
		if !d.Table.IsIP6 || s.ip6 {
			s.dump.push(dumpStep{dump: routeDump, num: d.Table.TableID, ip6: d.Table.IsIP6})
		}
	}
}
