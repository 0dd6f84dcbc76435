import Market
import NIOCore
import Wire

/// The lossless readers, those with the same wishes in one group, so that what they get is encoded once.
///
/// Owned by the relay's loop. Generic over the reader, which it only keeps and compares.
struct Audience<Member: AnyObject> {
    /// The same bytes for many readers.
    struct Parcel {
        var members: [Member]
        /// The members' lanes, in the same order.
        var lanes: [ClientLanes.Lane]
        /// Whole WebSocket frames.
        var bytes: ByteBuffer
        var messages: Int
        /// The trades in them.
        var trades: UInt64
    }

    /// Readers who want the same of some batches.
    struct Portion {
        var members: [Member]
        /// The members' lanes, in the same order.
        var lanes: [ClientLanes.Lane]
        /// Symbols that are in the batches.
        var wanted: SymbolSet
    }

    /// What a reader wants.
    struct Wish: Hashable {
        /// Whether it is everything but `symbols`; else it is these.
        var isEverything = false
        var symbols: Set<String>

        var isEmpty: Bool { !self.isEverything && self.symbols.isEmpty }
    }

    private struct Group {
        let wish: Wish
        var members: [Member] = []
        var lanes: [ClientLanes.Lane] = []
        /// The symbols that the wish names as far as the feed has them.
        var named = SymbolSet()
    }

    private struct Place {
        var wish: Wish
        var index: Int
    }

    /// In no order; walked through with every read.
    private var groups: [Group] = []
    private var groupOfWish: [Wish: Int] = [:]
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
        lane: ClientLanes.Lane = ClientLanes.none
    ) {
        self.place(member, wanting: Wish(symbols: symbols), lane: lane)
    }

    mutating func place(_ member: Member, wanting wish: Wish, lane: ClientLanes.Lane = ClientLanes.none) {
        self.remove(member)
        guard !wish.isEmpty else { return }
        let group = self.groupOfWish[wish] ?? self.groups.count
        if group == self.groups.count {
            self.groups.append(Group(wish: wish, named: self.known(wish.symbols)))
            self.groupOfWish[wish] = group
        }
        self.places[ObjectIdentifier(member)] = Place(wish: wish, index: self.groups[group].members.count)
        self.groups[group].members.append(member)
        self.groups[group].lanes.append(lane)
    }

    /// Forgets a reader, in constant time.
    mutating func remove(_ member: Member) {
        guard let place = self.places.removeValue(forKey: ObjectIdentifier(member)),
            let group = self.groupOfWish[place.wish]
        else { return }
        let last = self.groups[group].members.removeLast()
        let lane = self.groups[group].lanes.removeLast()
        if last !== member {
            self.groups[group].members[place.index] = last
            self.groups[group].lanes[place.index] = lane
            self.places[ObjectIdentifier(last)]?.index = place.index
        }
        if self.groups[group].members.isEmpty { self.forget(group) }
    }

    /// Forgets a group without members; the last one takes its place.
    private mutating func forget(_ group: Int) {
        self.groupOfWish[self.groups[group].wish] = nil
        let last = self.groups.removeLast()
        guard group < self.groups.count else { return }
        self.groups[group] = last
        self.groupOfWish[last.wish] = group
    }

    /// Encodes what the batches hold for each group; groups that want the same of them share one buffer.
    ///
    /// - Parameter parcels: gets them at its end. An array that is used again and again spares every read a new one.
    mutating func pack(_ batches: ArraySlice<TapeBatch>, into parcels: inout [Parcel]) {
        guard !self.groups.isEmpty, !batches.isEmpty else { return }
        self.learn(batches)
        let present = TradeCourier.symbols(in: batches)
        // Most want all of a read, which mostly is of one symbol; that needs no table.
        var whole: TradeCourier.Content?
        var parts: [SymbolSet: TradeCourier.Content] = [:]
        var cuts = TradeCourier.CutFrames()
        for index in self.groups.indices {
            let wanted = self.wanted(index, of: present)
            guard !wanted.isEmpty else { continue }
            let content: TradeCourier.Content
            if wanted == present {
                content =
                    whole ?? TradeCourier.encode(batches, wanted: wanted, isAll: true, cuts: &cuts, into: &self.room)
                whole = content
            } else {
                var room = ByteBuffer()
                content =
                    parts[wanted]
                    ?? TradeCourier.encode(batches, wanted: wanted, isAll: false, cuts: &cuts, into: &room)
                parts[wanted] = content
            }
            parcels.append(
                Parcel(
                    members: self.groups[index].members,
                    lanes: self.groups[index].lanes,
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
        return self.groups[group].wish.isEverything ? present.subtracting(named) : named.intersection(present)
    }

    /// Finds out who wants something of the batches, and what.
    ///
    /// - Parameter present: the symbols of the batches' trades.
    mutating func portions(of batches: ArraySlice<TapeBatch>, present: SymbolSet) -> [Portion] {
        guard !self.groups.isEmpty, !batches.isEmpty else { return [] }
        self.learn(batches)
        var portions: [Portion] = []
        for index in self.groups.indices {
            let wanted = self.wanted(index, of: present)
            guard !wanted.isEmpty else { continue }
            portions.append(
                Portion(members: self.groups[index].members, lanes: self.groups[index].lanes, wanted: wanted)
            )
        }
        return portions
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
        for index in self.groups.indices { self.groups[index].named = self.known(self.groups[index].wish.symbols) }
    }

    private func known(_ names: Set<String>) -> SymbolSet {
        var set = SymbolSet()
        for name in names {
            if let symbol = self.symbols.id(of: name) { set.insert(symbol) }
        }
        return set
    }
}
