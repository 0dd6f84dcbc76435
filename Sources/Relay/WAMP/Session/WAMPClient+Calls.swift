/// Calls, registrations and publications of a client.
extension WAMPClient {
    /// Whether the clients' own topics and procedures exist.
    var isBroker: Bool { self.context.settings.wampBroker }

    /// Checks a topic or a procedure of clients, to which no other may belong.
    private func checkForeign(_ uri: String) throws(WAMPFailure) {
        guard WAMPURI.isValid(uri) else { throw WAMPFailure(.invalidURI, "this is no URI") }
        guard self.isBroker, !WAMPTopic.isOurs(uri), !WAMPTopic.isReserved(uri) else {
            throw WAMPFailure(.notAuthorized, "clients have no part in this topic or procedure")
        }
    }

    /// Publishes a message; without an acknowledgement its failure is not reported.
    func publish(
        _ id: UInt64,
        _ options: WAMPRequest.PublishOptions,
        _ topic: String,
        _ payload: WAMPPayload,
        _ session: UInt64
    ) {
        do throws(WAMPFailure) {
            if let room = try self.room(ofTopic: topic) {
                let publication = try self.submit(payload, to: room)
                if options.isAcknowledged { self.answer(.published(id, publication: publication)) }
                return
            }
            try self.checkForeign(topic)
            let publication = try self.fanout.change { router throws(WAMPFailure) in
                router.publish(topic, options, payload, from: session)
            }
            if options.isAcknowledged { self.answer(.published(id, publication: publication)) }
        } catch {
            if options.isAcknowledged { self.answer(.error(.publish, id, error)) }
        }
    }

    func register(_ id: UInt64, _ procedure: String, isUsual: Bool, _ session: UInt64) throws(WAMPFailure) {
        try self.checkForeign(procedure)
        guard isUsual else {
            throw WAMPFailure(.optionNotAllowed, "a procedure is registered exactly, and by one session")
        }
        let registration = try self.fanout.change { router throws(WAMPFailure) in
            let registration = try router.changeDealer { dealer throws(WAMPFailure) in
                try dealer.register(procedure, by: session)
            }
            return (registration, [])
        }
        self.answer(.registered(id, registration: registration))
    }

    func call(
        _ id: UInt64,
        _ options: WAMPRequest.CallOptions,
        _ procedure: String,
        _ payload: WAMPPayload,
        _ session: UInt64
    ) throws(WAMPFailure) {
        guard WAMPURI.isValid(procedure) else { throw WAMPFailure(.invalidURI, "the procedure is no URI") }
        if WAMPTopic.isOurs(procedure) {
            let hasRooms = self.context.settings.rooms
            let result = try self.context.result(of: try WAMPProcedure(procedure, payload, hasRooms: hasRooms))
            return self.answer(.result(id, isProgress: false, WAMPPayload(arguments: [result])))
        }
        if WAMPTopic.isReserved(procedure) {
            let result = try self.fanout.router.meta(procedure, payload, of: self.isBroker ? nil : session)
            return self.answer(.result(id, isProgress: false, result))
        }
        let now = self.context.now
        let fanout = self.fanout
        try fanout.change { router throws(WAMPFailure) in
            let actions = try router.changeDealer { dealer throws(WAMPFailure) in
                try dealer.call(id, options, procedure, payload, from: session, now: now) { fanout.isReady($0) }
            }
            return ((), actions)
        }
    }

    /// Returns the cost of a call beyond that of an ordinary request.
    func cost(of procedure: String, _ payload: WAMPPayload) -> Int {
        if WAMPTopic.isReserved(procedure) { return WAMPLimits.listed / WAMPLimits.answeredPerRequest }
        guard WAMPTopic.isOurs(procedure) else { return 0 }
        do throws(WAMPFailure) {
            let hasRooms = self.context.settings.rooms
            return try WAMPProcedure(procedure, payload, hasRooms: hasRooms)
                .cost(symbols: self.context.liveRows.count, ofRoom: self.context.rooms.cost)
        } catch {
            return 0
        }
    }

    /// Returns the cost of a publication beyond that of an ordinary one: each matching subscription gets an event.
    func cost(ofTopic topic: String) -> Int {
        guard self.isBroker, WAMPURI.isValid(topic) else { return 0 }
        return self.fanout.router.broker.matching(topic).count / WAMPLimits.subscriptionsPerRequest
    }

    /// Changes the calls that wait.
    func changeCalls(_ change: (inout WAMPDealer) -> [WAMPAction]) {
        self.fanout.act { router in router.changeDealer { change(&$0) } }
    }
}
