import NIOCore

/// The router of the realm: its sessions, the broker and the dealer. A value without output.
struct WAMPRouter {
    private var ids: WAMPIDs
    private(set) var sessions: Set<UInt64> = []
    private(set) var broker = WAMPBroker()
    private(set) var dealer = WAMPDealer()

    init(_ ids: WAMPIDs) { self.ids = ids }

    // MARK: Sessions

    /// Adds a session; returns its number.
    mutating func joined(canBeInterrupted: Bool) -> UInt64 {
        let taken = self.sessions
        let session = self.ids.next { taken.contains($0) }
        self.sessions.insert(session)
        self.dealer.joined(session, canBeInterrupted: canBeInterrupted)
        return session
    }

    /// Removes a session with all that it had.
    mutating func left(_ session: UInt64) -> [WAMPAction] {
        self.sessions.remove(session)
        self.broker.left(session)
        return self.dealer.left(session)
    }

    // MARK: Subscriptions and publications

    mutating func subscribe(_ session: UInt64, to pattern: WAMPPattern) throws(WAMPFailure) -> UInt64 {
        try self.broker.subscribe(session, to: pattern)
    }

    /// Ends a session's subscription; returns whether it had one.
    mutating func unsubscribe(_ session: UInt64, from id: UInt64) -> Bool {
        self.broker.unsubscribe(session, from: id)
    }

    /// Returns the number of a new publication.
    mutating func publication() -> UInt64 { self.ids.next() }

    /// Publishes what a client sent; returns the publication's number.
    mutating func publish(
        _ topic: String,
        _ options: WAMPRequest.PublishOptions,
        _ payload: WAMPPayload,
        from session: UInt64
    ) -> (publication: UInt64, actions: [WAMPAction]) {
        let publication = self.ids.next()
        var actions: [WAMPAction] = []
        for id in self.broker.matching(topic) {
            guard let subscription = self.broker[id] else { continue }
            var members = subscription.members
            if options.excludesPublisher { members.remove(session) }
            members.subtract(options.excluded)
            if let eligible = options.eligible { members.formIntersection(eligible) }
            guard !members.isEmpty else { continue }
            let event = WAMPMessage.event(
                subscription: id,
                publication: publication,
                topic: self.broker.topic(topic, for: id),
                payload
            )
            actions.append(.publish(event, to: Array(members)))
        }
        return (publication, actions)
    }

    // MARK: Procedures

    /// Changes the registrations and the calls.
    mutating func changeDealer<Result, Failure: Error>(
        _ change: (inout WAMPDealer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try change(&self.dealer)
    }

    /// Ends the calls that have taken too long.
    mutating func timePassed(now: NIODeadline) -> [WAMPAction] { self.dealer.timePassed(now: now) }
}
