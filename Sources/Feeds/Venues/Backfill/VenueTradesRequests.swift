import Market
package import NIOCore
package import Wire

/// Requests for a venue's earlier trades that a command makes one after the other, within the limits that all programs
/// at this address share.
///
/// Belongs to its loop, on which every closure runs.
package final class VenueTradesRequests {
    /// How often a request is repeated while the service does not answer, and the longest wait that it may ask for, ns.
    private static let attempts = 5
    private static let longestWait: Int64 = 900_000_000_000
    /// The longest wait for which no reason is given, ns.
    private static let mentionedWait: Int64 = 5_000_000_000

    private let source: any VenueTradesSource
    private let budget: PersistentBackoff
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    /// Called before a wait of some seconds, with the reason in words.
    private let waits: (String) -> Void
    private var isLoaded = false

    package init(
        _ venue: Venue,
        source: any VenueTradesSource,
        holding: KeyHolding,
        loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        waits: @escaping (String) -> Void
    ) {
        self.source = source
        self.budget = PersistentBackoff(.requests(to: venue), holding, loop: loop)
        self.loop = loop
        self.wallClock = wallClock
        self.waits = waits
    }

    /// Sends a request when the limits allow it, and calls `then` with the frame of the exchange.
    package func ask(
        _ request: VenueTradesRequest,
        then: @escaping (Result<ByteBuffer, ServiceFailure>) -> Void
    ) {
        guard self.isLoaded else {
            self.budget.load(
                isTakeover: false,
                now: self.wallClock,
                redact: { $0 },
                then: { remainder in
                    let wait = remainder?.wait ?? 0
                    guard wait <= Self.longestWait else {
                        let until = self.wallClock().addingCapped(wait)
                        return then(.failure(.rateLimited(until: until, remainder?.reason ?? "")))
                    }
                    self.isLoaded = true
                    if let remainder, wait > Self.mentionedWait { self.waits(remainder.reason) }
                    self.after(wait) { self.ask(request, attempt: 1, then: then) }
                }
            )
            return
        }
        self.ask(request, attempt: 1, then: then)
    }

    private func ask(
        _ request: VenueTradesRequest,
        attempt: Int,
        then: @escaping (Result<ByteBuffer, ServiceFailure>) -> Void
    ) {
        let now = self.wallClock()
        let wait = self.budget.budgetWait(at: now)
        guard wait <= 0 else {
            if wait > Self.mentionedWait { self.waits("the limit of requests is used up") }
            return self.after(wait) { self.ask(request, attempt: attempt, then: then) }
        }
        self.budget.attempted(at: now) {
            self.source.ask(request, at: 0, on: self.loop) { answer in
                switch answer.result {
                case .success(let body):
                    self.budget.connectionOpened()
                    then(.success(VenueExchange(target: request.target, body: body).frame))
                case .failure(let failure):
                    guard attempt < Self.attempts, let pause = self.pause(after: failure, attempt: attempt) else {
                        return then(.failure(failure))
                    }
                    self.waits("\(failure)")
                    self.after(pause) { self.ask(request, attempt: attempt + 1, then: then) }
                }
            }
        }
    }

    /// Returns the wait before the next attempt, ns; `nil` if another one is of no use.
    private func pause(after failure: ServiceFailure, attempt: Int) -> Int64? {
        switch failure.kind {
        case .rateLimited(let until):
            let wait = max(until.subtractingCapped(self.wallClock()), 1_000_000_000)
            // The programs after this one have to know it, too.
            let pause = self.budget.rateLimited(retryAfter: wait)
            self.budget.paused(pause, at: self.wallClock(), reason: "\(failure)")
            return wait <= Self.longestWait ? max(wait, pause.wait) : nil
        case .unreachable: return 1_000_000_000 << Int64(attempt - 1)
        case .noKey, .keyRejected, .notPermitted, .unreadableAnswer, .unknownExchange: return nil
        }
    }

    private func after(_ wait: Int64, _ body: @escaping () -> Void) {
        guard wait > 0 else { return body() }
        let bound = NIOLoopBound(body, eventLoop: self.loop)
        self.loop.scheduleTask(in: .nanoseconds(wait)) { bound.value() }
    }
}

extension VenueSettings {
    /// Makes the source of the venue's earlier trades; `nil` without an address of its REST service.
    package func tradesSource(
        on group: any EventLoopGroup,
        wallClock: @escaping @Sendable () -> Int64
    ) -> (any VenueTradesSource)? {
        let services = self.services
        return services.isEmpty ? nil : VenueTradesService(self.venue, services, on: group, wallClock: wallClock)
    }
}
