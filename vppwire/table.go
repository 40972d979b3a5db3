package vppwire

import "strconv"

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

// Key implements Object.
func (o Table) Key() Key { return tableKey(o.ID, o.IP6) }

// AppendNeeds implements Object: a table needs nothing.
func (o Table) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "table 1", "table 1 ip6".
func (o Table) AppendText(b []byte) []byte {
	b = append(b, "table "...)
	b = strconv.AppendUint(b, uint64(o.ID), 10)
	if o.IP6 {
		b = append(b, " ip6"...)
	}
	return b
}

func (o Table) sweptBy() (Key, bool) { return Key{}, false }
func (o Table) replaces(Object) bool { return true }
func (o Table) name() string         { return "vrf-" + strconv.FormatUint(uint64(o.ID), 10) }
func (o Table) fill(s *Session, r *request, add bool) {
	m := &s.msg
	m.table.Table.TableID, m.table.Table.IsIP6, m.table.Table.Name = o.ID, o.IP6, o.name()
	m.table.CreateMfib, m.table.IsAdd = true, add
	r.invoke("ip_table_add_del_v2", &m.table, &m.tableReply, &m.tableReply.Retval)
}

func (o Table) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Table) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// needTable appends the table unless it is one that always exists.
func needTable(keys []Key, id uint32, ip6 bool) []Key {
	if id == 0 {
		return keys
	}
	return append(keys, tableKey(id, ip6))
}
