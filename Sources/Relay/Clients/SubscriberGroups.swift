import Market
import NIOCore
import Wire

/// The lossless readers, those with the same wishes in one group, so that what they get is encoded once.
///
/// Owned by the relay's loop. Generic over the reader, which it only keeps and compares.
struct SubscriberGroups<Member: AnyObject> {
    /// The same bytes for many readers.
    struct EncodedBatch {
        var members: [Member]
        /// The members' lanes, in the same order.
        var slots: [DirectSlots.Slot]
        /// Whole WebSocket frames.
        var bytes: ByteBuffer
        var messages: Int
        /// The trades in them.
        var trades: UInt64
    }

    /// Readers who want the same of some batches.
    struct SubscriberGroup {
        var members: [Member]
        /// The members' lanes, in the same order.
        var slots: [DirectSlots.Slot]
        /// Symbols that are in the batches.
        var wanted: SymbolSet
    }

    /// What a reader wants.
    struct SymbolFilter: Hashable {
        /// Whether it is everything but `symbols`; else it is these.
        var isEverything = false
        var symbols: Set<String>

        var isEmpty: Bool { !self.isEverything && self.symbols.isEmpty }
    }

    private struct Group {
        let filter: SymbolFilter
        var members: [Member] = []
        var slots: [DirectSlots.Slot] = []
        /// The symbols that the wish names as far as the feed has them.
        var named = SymbolSet()
    }

    private struct Place {
        var filter: SymbolFilter
        var index: Int
    }

    /// In no order; walked through with every read.
    private var groups: [Group] = []
    private var groupOfFilter: [SymbolFilter: Int] = [:]
    private var places: [ObjectIdentifier: Place] = [:]
    /// The feed's names as last seen; they only grow, and begin anew with another epoch.
    private var symbols = SymbolTable()
    /// Where the frames for those are written who want all of a read; used again unless somebody still waits for them.
    private var room = ByteBuffer()

    /// Puts a reader where its wishes belong; without any, it gets nothing.
    ///
    /// - Parameter lane: its lane, which it keeps as long as it has a place here.
    mutating func place(
        _ member: Member,
        wanting symbols: Set<String>,
        slot: DirectSlots.Slot = DirectSlots.none
    ) {
        self.place(member, wanting: SymbolFilter(symbols: symbols), slot: slot)
    }

    mutating func place(_ member: Member, wanting filter: SymbolFilter, slot: DirectSlots.Slot = DirectSlots.none) {
        self.remove(member)
        guard !filter.isEmpty else { return }
        let group = self.groupOfFilter[filter] ?? self.groups.count
        if group == self.groups.count {
            self.groups.append(Group(filter: filter, named: self.known(filter.symbols)))
            self.groupOfFilter[filter] = group
        }
        self.places[ObjectIdentifier(member)] = Place(filter: filter, index: self.groups[group].members.count)
        self.groups[group].members.append(member)
        self.groups[group].slots.append(slot)
    }

    /// Forgets a reader, in constant time.
    mutating func remove(_ member: Member) {
        guard let place = self.places.removeValue(forKey: ObjectIdentifier(member)),
            let group = self.groupOfFilter[place.filter]
        else { return }
        let last = self.groups[group].members.removeLast()
        let slot = self.groups[group].slots.removeLast()
        if last !== member {
            self.groups[group].members[place.index] = last
            self.groups[group].slots[place.index] = slot
            self.places[ObjectIdentifier(last)]?.index = place.index
        }
        if self.groups[group].members.isEmpty { self.forget(group) }
    }

    /// Forgets a group without members; the last one takes its place.
    private mutating func forget(_ group: Int) {
        self.groupOfFilter[self.groups[group].filter] = nil
        let last = self.groups.removeLast()
        guard group < self.groups.count else { return }
        self.groups[group] = last
        self.groupOfFilter[last.filter] = group
    }

    /// Encodes what the batches hold for each group; groups that want the same of them share one buffer.
    ///
    /// - Parameter parcels: gets them at its end. An array that is used again and again spares every read a new one.
    mutating func pack(_ batches: ArraySlice<TapeBatch>, into parcels: inout [EncodedBatch]) {
        guard !self.groups.isEmpty, !batches.isEmpty else { return }
        self.learn(batches)
        let present = FinnhubTradeEncoder.symbols(in: batches)
        // Most want all of a read, which mostly is of one symbol; that needs no table.
        var whole: FinnhubTradeEncoder.Content?
        var parts: [SymbolSet: FinnhubTradeEncoder.Content] = [:]
        var cuts = FinnhubTradeEncoder.CutFrames()
        for index in self.groups.indices {
            let wanted = self.wanted(index, of: present)
            guard !wanted.isEmpty else { continue }
            let content: FinnhubTradeEncoder.Content
            if wanted == present {
                content =
                    whole
                    ?? FinnhubTradeEncoder.encode(batches, wanted: wanted, isAll: true, cuts: &cuts, into: &self.room)
                whole = content
            } else {
                var room = ByteBuffer()
                content =
                    parts[wanted]
                    ?? FinnhubTradeEncoder.encode(batches, wanted: wanted, isAll: false, cuts: &cuts, into: &room)
                parts[wanted] = content
            }
            parcels.append(
                EncodedBatch(
                    members: self.groups[index].members,
                    slots: self.groups[index].slots,
                    bytes: content.bytes,
                    messages: content.messages,
                    trades: content.trades
                )
            )
        }
    }

    /// The symbols of the present ones that a group wants.
    private func wanted(_ group: Int, of present: SymbolSet) -> SymbolSet {
        let named = self.groups[group].named
        return self.groups[group].filter.isEverything ? present.subtracting(named) : named.intersection(present)
    }

    /// Finds out who wants something of the batches, and what.
    ///
    /// - Parameter present: the symbols of the batches' trades.
    mutating func interestedGroups(of batches: ArraySlice<TapeBatch>, present: SymbolSet) -> [SubscriberGroup] {
        guard !self.groups.isEmpty, !batches.isEmpty else { return [] }
        self.learn(batches)
        var interestedGroups: [SubscriberGroup] = []
        for index in self.groups.indices {
            let wanted = self.wanted(index, of: present)
            guard !wanted.isEmpty else { continue }
            interestedGroups.append(
                SubscriberGroup(members: self.groups[index].members, slots: self.groups[index].slots, wanted: wanted)
            )
        }
        return interestedGroups
    }

    /// Whether anybody wants anything.
    var isEmpty: Bool { self.groups.isEmpty }

    /// Notes that symbols' numbers mean others from now on.
    mutating func epochBegan() {
        self.symbols = SymbolTable()
        for index in self.groups.indices { self.groups[index].named = SymbolSet() }
    }

    /// Learns the feed's new symbols, which may be some that readers have waited for.
    private mutating func learn(_ batches: ArraySlice<TapeBatch>) {
        // By its place, for a batch is many words and references.
        let newest = batches.endIndex - 1
        guard batches[newest].symbols.count != self.symbols.count else { return }
        self.symbols = batches[newest].symbols
        for index in self.groups.indices { self.groups[index].named = self.known(self.groups[index].filter.symbols) }
    }

    private func known(_ names: Set<String>) -> SymbolSet {
        var set = SymbolSet()
        for name in names {
            if let symbol = self.symbols.id(of: name) { set.insert(symbol) }
        }
        return set
    }
}
