import NIOCore
import WebSocket

/// The messages of a client.
extension WAMPClient {
    func received(_ text: ByteBuffer) {
        guard !self.serialisation.isBinary else {
            return self.abort(.protocolViolation, "binary messages only", code: .unsupported)
        }
        self.take(text)
    }

    func received(binary: ByteBuffer) {
        guard self.serialisation.isBinary else {
            return self.abort(.protocolViolation, "text messages only", code: .unsupported)
        }
        self.take(binary)
    }

    private func take(_ message: ByteBuffer) {
        let request: WAMPRequest
        do throws(WAMPViolation) {
            request = try WAMPRequest(try self.value(of: message))
        } catch {
            return self.abort(.protocolViolation, error.words)
        }
        switch self.state {
        case .opening(let timer): self.open(request, timer)
        case .joined(let session): self.take(request, session, bytes: message.readableBytes)
        case .ended: break  // late input of a client that is being closed
        }
    }

    private func value(of message: ByteBuffer) throws(WAMPViolation) -> WAMPValue {
        do throws(WAMPCodingFault) {
            return try self.serialisation.decode(message)
        } catch {
            throw WAMPViolation(error.words)
        }
    }

    private func open(_ request: WAMPRequest, _ timer: Scheduled<Void>?) {
        switch request {
        case .hello(let realm, let details):
            do throws(WAMPWelcome.Refusal) {
                let welcome = try WAMPWelcome(realm: realm, details)
                timer?.cancel()
                let session = self.fanout.joined(self, canBeInterrupted: welcome.canBeInterrupted)
                self.state = .joined(session)
                self.answer(.welcome(session, WAMPWelcome.details(version: self.context.settings.version)))
            } catch {
                self.abort(
                    error.reason,
                    error.words,
                    code: error.reason == .protocolViolation ? .protocolError : .normal
                )
            }
        case .abort:
            self.close(.normal, reason: "")
        case .goodbye, .subscribe, .unsubscribe, .publish, .register, .unregister, .call, .cancel, .yield, .failed:
            self.abort(.protocolViolation, "the first message is HELLO")
        }
    }

    private func take(_ request: WAMPRequest, _ session: UInt64, bytes: Int) {
        let cost = self.cost(of: request, session, bytes)
        // What costs nothing is taken beyond the rate, too.
        let verdict =
            cost == 0 ? RequestAllowance.Verdict.allowed : self.allowance.requested(cost: cost, now: self.context.now)
        switch verdict {
        case .allowed: break
        case .refused: return self.refuse(request)
        case .flood: return self.close(.policy, reason: "too many requests")
        }
        switch request {
        case .hello:
            self.abort(.protocolViolation, "the session is open already")
        case .abort:
            self.close(.normal, reason: "")
        case .goodbye:
            self.answer(.goodbye(.goodbyeAndOut, "goodbye"))
            self.close(.normal, reason: WAMPErrorURI.goodbyeAndOut.rawValue)
        case .subscribe(let id, let topic, let match):
            self.answering(.subscribe, id) { () throws(WAMPFailure) in try self.subscribe(id, topic, match, session) }
        case .unsubscribe(let id, let subscription):
            self.answering(.unsubscribe, id) { () throws(WAMPFailure) in
                try self.unsubscribe(subscription, session)
                self.answer(.unsubscribed(id))
            }
        case .publish(let id, let options, let topic, let payload):
            self.publish(id, options, topic, payload, session)
        case .register(let id, let procedure, let isUsual):
            self.answering(.register, id) { () throws(WAMPFailure) in
                try self.register(id, procedure, isUsual: isUsual, session)
            }
        case .unregister(let id, let registration):
            self.answering(.unregister, id) { () throws(WAMPFailure) in
                try self.fanout.change { router throws(WAMPFailure) in
                    try router.changeDealer { dealer throws(WAMPFailure) in
                        try dealer.unregister(registration, by: session)
                    }
                    return ((), [])
                }
                self.answer(.unregistered(id))
            }
        case .call(let id, let options, let procedure, let payload):
            guard !self.fanout.router.dealer.isPending(id, of: session) else {
                return self.abort(.protocolViolation, "a call with this id waits")
            }
            self.answering(.call, id) { () throws(WAMPFailure) in
                try self.call(id, options, procedure, payload, session)
            }
        case .cancel(let id, let mode):
            self.changeCalls { $0.cancel(id, mode, from: session) }
        case .yield(let id, let isProgress, let payload):
            self.changeCalls { $0.yield(id, isProgress: isProgress, payload, from: session) }
        case .failed(let id, let failure):
            self.changeCalls { $0.failed(id, failure, from: session) }
        }
    }

    /// Executes a request, and answers its failure.
    private func answering(_ code: WAMPCode, _ id: UInt64, _ body: () throws(WAMPFailure) -> Void) {
        do throws(WAMPFailure) {
            try body()
        } catch {
            self.answer(.error(code, id, error))
        }
    }

    // MARK: The rate

    /// Returns the cost of a message, in ordinary requests. The answers to invocations are paid for by the calls, and
    /// the end of a session costs nothing.
    private func cost(of request: WAMPRequest, _ session: UInt64, _ bytes: Int) -> Int {
        switch request {
        case .abort, .goodbye: 0
        case .yield(_, isProgress: true, _): 1 + bytes / WAMPLimits.bytesPerRequest
        case .yield(let id, isProgress: false, _):
            self.fanout.router.dealer.isOwed(id, by: session) ? 0 : 1
        case .failed(let id, _):
            self.fanout.router.dealer.isOwed(id, by: session) ? 0 : 1
        case .publish(_, _, let topic, _): 1 + bytes / WAMPLimits.bytesPerRequest + self.cost(ofTopic: topic)
        case .call(_, _, let procedure, let payload):
            1 + bytes / WAMPLimits.bytesPerRequest + self.cost(of: procedure, payload)
        case .subscribe(_, _, .prefix?), .subscribe(_, _, .wildcard?):
            self.costOfPattern
        case .unsubscribe(_, let id):
            (self.subscriptions[id]?.pattern.match ?? .exact) == .exact ? 1 : self.costOfPattern
        case .subscribe, .hello, .register, .unregister, .cancel: 1
        }
    }

    /// The cost of a request that visits the prices of all symbols.
    private var costOfPattern: Int { 1 + self.context.liveRows.count / WAMPLimits.answeredPerRequest }

    /// Refuses a request beyond the rate. What has no answer is left out.
    private func refuse(_ request: WAMPRequest) {
        let failure = WAMPFailure(.rateLimited, "too many requests; slow down")
        switch request {
        case .subscribe(let id, _, _): self.answer(.error(.subscribe, id, failure))
        case .unsubscribe(let id, _): self.answer(.error(.unsubscribe, id, failure))
        case .publish(let id, let options, _, _):
            if options.isAcknowledged { self.answer(.error(.publish, id, failure)) }
        case .register(let id, _, _): self.answer(.error(.register, id, failure))
        case .unregister(let id, _): self.answer(.error(.unregister, id, failure))
        case .call(let id, _, _, _): self.answer(.error(.call, id, failure))
        case .hello, .abort, .goodbye, .cancel, .yield, .failed: break
        }
    }
}
