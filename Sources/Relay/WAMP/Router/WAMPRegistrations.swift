/// The procedures that sessions have registered, each by one session.
struct WAMPRegistrations {
    struct Registration {
        let id: UInt64
        let procedure: String
        let session: UInt64
    }

    private var registrations: [UInt64: Registration] = [:]
    private var ids: [WAMPText: UInt64] = [:]
    private var idsOfSession: [UInt64: Set<UInt64>] = [:]
    private var lastID: UInt64 = 0

    subscript(id: UInt64) -> Registration? { self.registrations[id] }

    subscript(procedure: String) -> Registration? { self.ids[WAMPText(procedure)].flatMap { self.registrations[$0] } }

    /// The numbers of all registrations, in order.
    var all: [UInt64] { self.registrations.keys.sorted() }

    mutating func register(_ procedure: String, by session: UInt64) throws(WAMPFailure) -> UInt64 {
        guard self.ids[WAMPText(procedure)] == nil else {
            throw WAMPFailure(.procedureAlreadyExists, "the procedure is registered already")
        }
        guard (self.idsOfSession[session]?.count ?? 0) < WAMPLimits.registrations else {
            throw WAMPFailure(.tooManyRegistrations, "a session may register \(WAMPLimits.registrations) procedures")
        }
        self.lastID += 1
        self.registrations[self.lastID] = Registration(id: self.lastID, procedure: procedure, session: session)
        self.ids[WAMPText(procedure)] = self.lastID
        self.idsOfSession[session, default: []].insert(self.lastID)
        return self.lastID
    }

    mutating func unregister(_ id: UInt64, by session: UInt64) throws(WAMPFailure) {
        guard self.idsOfSession[session]?.remove(id) != nil,
            let registration = self.registrations.removeValue(forKey: id)
        else { throw WAMPFailure(.noSuchRegistration, "the session has no such registration") }
        self.ids[WAMPText(registration.procedure)] = nil
    }

    /// Ends the registrations of a session.
    mutating func left(_ session: UInt64) {
        for id in self.idsOfSession.removeValue(forKey: session) ?? [] {
            guard let registration = self.registrations.removeValue(forKey: id) else { continue }
            self.ids[WAMPText(registration.procedure)] = nil
        }
    }
}
