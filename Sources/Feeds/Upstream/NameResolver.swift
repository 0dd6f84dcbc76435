import NIOConcurrencyHelpers
import NIOCore
import Platform

/// The reason why a name could not be resolved.
enum NameFailure: Error, Equatable {
    /// The name servers know no address for the name.
    case unknown
    /// The name servers did not answer the system's resolver.
    case noServer
    /// The system's resolver did not answer within the limit.
    case late(TimeAmount)
    /// Any other failure, in the system's words.
    case failed(String)
}

/// The resolver of host names: off the event loop, and within a limit.
///
/// `getaddrinfo` cannot be cancelled, and a call that hangs keeps its thread until it returns. So callers that ask for
/// the same name share a lookup, and each stops waiting at its own limit. A lookup that has hung for ``patience`` may
/// hang for ever. Then another one is started beside it, up to ``maximumAtOnce``: the program recovers by itself, and
/// weeks of attempts do not accumulate threads.
final class NameResolver: Sendable {
    /// Looks a name up; may block without a limit.
    typealias Lookup = @Sendable (_ host: String, _ port: Int) throws(NameFailure) -> [SocketAddress]

    /// How long a lookup may take before another one is started beside it.
    static let patience: TimeAmount = .seconds(60)
    /// The most lookups of one name at once.
    static let maximumAtOnce = 3

    private struct Place: Hashable {
        var host: String
        var port: Int
    }

    private struct Search {
        var lookups = 0
        var newest: NIODeadline
        var askers: [UInt64: EventLoopPromise<[SocketAddress]>] = [:]
    }

    private struct State {
        var searches: [Place: Search] = [:]
        var lastNumber: UInt64 = 0
    }

    private let lookUp: Lookup
    private let state: NIOLockedValueBox<State>

    init(lookUp: @escaping Lookup) {
        self.lookUp = lookUp
        self.state = NIOLockedValueBox(State())
    }

    /// Resolves a host. A host that is an address needs no lookup.
    ///
    /// - Returns: a future that fails with ``NameFailure``.
    func addresses(
        of host: String,
        port: Int,
        within limit: TimeAmount,
        on loop: any EventLoop
    ) -> EventLoopFuture<[SocketAddress]> {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return loop.makeSucceededFuture([address]) }
        let place = Place(host: host, port: port)
        let promise = loop.makePromise(of: [SocketAddress].self)
        let now = loop.now
        let (number, begins) = self.state.withLockedValue { state in
            state.lastNumber += 1
            var search = state.searches[place] ?? Search(newest: now)
            search.askers[state.lastNumber] = promise
            let begins =
                search.lookups == 0 || search.lookups < Self.maximumAtOnce && now - search.newest >= Self.patience
            if begins {
                search.lookups += 1
                search.newest = now
            }
            state.searches[place] = search
            return (state.lastNumber, begins)
        }
        let timer = loop.scheduleTask(in: limit) {
            // The promise is completed by the one that removes it.
            self.state.withLockedValue { $0.searches[place]?.askers.removeValue(forKey: number) }?.fail(
                NameFailure.late(limit)
            )
        }
        promise.futureResult.whenComplete { _ in timer.cancel() }
        if begins { self.begin(place) }
        return promise.futureResult
    }

    /// Returns the number of lookups of a host under way.
    func lookups(of host: String, port: Int) -> Int {
        self.state.withLockedValue { $0.searches[Place(host: host, port: port)]?.lookups ?? 0 }
    }

    private func begin(_ place: Place) {
        // One thread for each lookup, so that one that hangs does not delay the others.
        let thread = WorkQueue("names")
        do throws(SystemCallFailure) {
            try thread.start()
        } catch {
            return self.ended(place, .failure(.failed("\(error)")))
        }
        thread.submit {
            let result: Result<[SocketAddress], NameFailure>
            do throws(NameFailure) {
                result = .success(try self.lookUp(place.host, place.port))
            } catch {
                result = .failure(error)
            }
            self.ended(place, result)
        }
    }

    private func ended(_ place: Place, _ result: Result<[SocketAddress], NameFailure>) {
        let askers = self.state.withLockedValue { state in
            guard var search = state.searches[place] else { return [] as [EventLoopPromise<[SocketAddress]>] }
            let askers = Array(search.askers.values)
            search.askers = [:]
            search.lookups -= 1
            state.searches[place] = search.lookups == 0 ? nil : search
            return askers
        }
        for asker in askers { asker.completeWith(result.mapError { $0 as any Error }) }
    }
}
