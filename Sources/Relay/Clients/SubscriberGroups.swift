import Market
import NIOCore
import Wire

/// The lossless readers, grouped by their subscriptions, so that each group's trades are encoded once.
///
/// Owned by the relay's loop. It is generic over the reader, which it only stores and compares.
struct SubscriberGroups<Member: AnyObject> {
    /// Readers that want the same symbols of some batches.
    struct Interested {
        var members: [Member]
        /// The members' slots, in the same order.
        var slots: [DirectSlots.Slot]
        /// The wanted symbols of those in the batches.
        var wanted: SymbolSet
    }

    private struct Group {
        let filter: SymbolFilter
        var members: [Member] = []
        var slots: [DirectSlots.Slot] = []
        /// The symbols of the filter that the feed has, by number.
        var named = SymbolSet()
    }

    private struct Place {
        var filter: SymbolFilter
        var index: Int
    }

    /// In no order; iterated for every batch.
    private var groups: [Group] = []
    private var groupOfFilter: [SymbolFilter: Int] = [:]
    private var places: [ObjectIdentifier: Place] = [:]
    /// The feed's symbols as of the last batch. They only grow, and begin anew with another epoch.
    private var symbols = SymbolTable()

    /// Moves a reader to the group of its subscriptions. Without any, it gets nothing.
    ///
    /// - Parameter slot: the reader's slot, which it keeps while it is in a group.
    mutating func place(_ member: Member, wanting filter: SymbolFilter, slot: DirectSlots.Slot = DirectSlots.none) {
        self.remove(ObjectIdentifier(member))
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

    /// Removes a reader, in constant time.
    mutating func remove(_ member: ObjectIdentifier) {
        guard let place = self.places.removeValue(forKey: member),
            let group = self.groupOfFilter[place.filter]
        else { return }
        let last = self.groups[group].members.removeLast()
        let slot = self.groups[group].slots.removeLast()
        if ObjectIdentifier(last) != member {
            self.groups[group].members[place.index] = last
            self.groups[group].slots[place.index] = slot
            self.places[ObjectIdentifier(last)]?.index = place.index
        }
        if self.groups[group].members.isEmpty { self.forget(group) }
    }

    /// Removes a group without members; the last group takes its index.
    private mutating func forget(_ group: Int) {
        self.groupOfFilter[self.groups[group].filter] = nil
        let last = self.groups.removeLast()
        guard group < self.groups.count else { return }
        self.groups[group] = last
        self.groupOfFilter[last.filter] = group
    }

    /// Returns those of the present symbols that a group wants.
    private func wanted(_ group: Int, of present: SymbolSet) -> SymbolSet {
        let named = self.groups[group].named
        return self.groups[group].filter.isEverything ? present.subtracting(named) : named.intersection(present)
    }

    /// Finds the groups that want some of the batches, and the symbols that each wants.
    ///
    /// - Parameters:
    ///   - present: the symbols of the batches' trades.
    ///   - interested: the groups are appended to it. Reusing one array avoids an allocation per batch.
    mutating func interested(
        in batches: ArraySlice<TapeBatch>,
        of present: SymbolSet,
        into interested: inout [Interested]
    ) {
        guard !self.groups.isEmpty, !batches.isEmpty else { return }
        self.learn(batches)
        for index in self.groups.indices {
            let wanted = self.wanted(index, of: present)
            guard !wanted.isEmpty else { continue }
            interested.append(
                Interested(members: self.groups[index].members, slots: self.groups[index].slots, wanted: wanted)
            )
        }
    }

    /// Whether no reader has a subscription.
    var isEmpty: Bool { self.groups.isEmpty }

    /// Forgets which symbol each number means; the next epoch assigns the numbers anew.
    mutating func epochBegan() {
        self.symbols = SymbolTable()
        for index in self.groups.indices { self.groups[index].named = SymbolSet() }
    }

    /// Takes in the feed's new symbols, for which readers may have been waiting.
    private mutating func learn(_ batches: ArraySlice<TapeBatch>) {
        // By index, because a batch is many words and references.
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
