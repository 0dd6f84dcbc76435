/// The sessions that get every trade, grouped by what they get in which form, so that each group's bytes are made once.
struct WAMPTradeGroups {
    /// What makes the bytes of two sessions the same.
    struct Key: Hashable {
        let serialisation: WAMPSerialisation
        /// The subscriptions that trades match, in order.
        let subscriptions: [UInt64]
    }

    private struct Place {
        var key: Key
        var index: Int
    }

    struct Group {
        /// In no order.
        var members: [WAMPClient] = []
        /// The members' slots, in the same order.
        var slots: [DirectSlots.Slot] = []
    }

    private var groups: [Key: Group] = [:]
    private var places: [ObjectIdentifier: Place] = [:]

    var isEmpty: Bool { self.groups.isEmpty }

    /// Moves a session to the group of its subscriptions. Without any it gets nothing.
    mutating func place(_ client: WAMPClient, wanting subscriptions: [UInt64]) {
        self.remove(ObjectIdentifier(client))
        guard !subscriptions.isEmpty else { return }
        let key = Key(serialisation: client.serialisation, subscriptions: subscriptions)
        self.places[ObjectIdentifier(client)] = Place(key: key, index: self.groups[key]?.members.count ?? 0)
        self.groups[key, default: Group()].members.append(client)
        self.groups[key]?.slots.append(client.output.slot)
    }

    /// Removes a session, in constant time.
    private mutating func remove(_ id: ObjectIdentifier) {
        guard let place = self.places.removeValue(forKey: id), var group = self.groups.removeValue(forKey: place.key)
        else { return }
        let (last, slot) = (group.members.removeLast(), group.slots.removeLast())
        if ObjectIdentifier(last) != id {
            group.members[place.index] = last
            group.slots[place.index] = slot
            self.places[ObjectIdentifier(last)]?.index = place.index
        }
        if !group.members.isEmpty { self.groups[place.key] = group }
    }

    /// The groups with copies of their members: a write may end a session, which then leaves.
    var all: [Key: Group] { self.groups }
}
