import Feeds
import Market
import NIOCore
import NIOPosix
import Recordings
import Wire

/// The comparison of recorded hours with what the venues' REST services have today.
struct VenueCheck {
    /// After how many requests the progress is said.
    private static let progress = 20
    /// The most ids of an hour: 10,000 requests.
    private static let maximumIDs: UInt64 = 10_000_000
    /// The time until the same request is made again: a service may be some seconds behind.
    private static let secondLook = Duration.seconds(5)

    let settings: Settings

    /// Compares each hour, in turn.
    ///
    /// - Returns: for each hour that was compared a line, and whether it differs; and why the others were not compared,
    ///   in one line.
    func compare(
        _ hours: [CompletenessHour],
        lines: RecordedTradeLines
    ) async -> (found: [(line: String, differs: Bool)], failure: String?) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let warnings = Warnings()
        var found: [(line: String, differs: Bool)] = []
        do {
            var requests: [Venue: NIOLoopBound<VenueTradesRequests>] = [:]
            for (index, hour) in hours.enumerated() {
                guard let venue = Venue(of: hour.symbol), hour.first != nil else { continue }
                let known = requests[venue]
                let asked = if let known { known } else { try await self.requests(to: venue, on: loop, warnings) }
                requests[venue] = asked
                if let last = hour.last, let first = hour.first, last - first > Self.maximumIDs {
                    found.append(("\(Self.name(hour)): its ids, \(first) to \(last), do not follow each other", true))
                    continue
                }
                var comparison = VenueComparison(hour, of: venue, lines: lines)
                var count = 0
                while let request = comparison.request {
                    if count % Self.progress == 0 {
                        Console.printError(
                            "hour \(index + 1) of \(hours.count), \(SymbolName.word(hour.symbol)), request \(count + 1)"
                        )
                    }
                    count += 1
                    let answer = try await Self.answer(to: request, asked, on: loop)
                    do throws(VenueComparison.Fault) {
                        try comparison.take(answer)
                    } catch {
                        throw OperatorError(
                            "\(venue.name) does not answer with these trades (\(error)); try again later",
                            status: .failure
                        )
                    }
                    if comparison.isInDoubt { try await Task.sleep(for: Self.secondLook) }
                }
                if let result = comparison.result { found.append(Self.finding(hour, result)) }
            }
        } catch {
            await group.end()
            return (found, "\(error)")
        }
        await group.end()
        return (found, nil)
    }

    private func requests(
        to venue: Venue,
        on loop: any EventLoop,
        _ warnings: Warnings
    ) async throws -> NIOLoopBound<VenueTradesRequests> {
        let feed = try self.settings.liveFeed(of: venue, symbols: [])
        let noAddress = OperatorError("the REST address of \(venue.name) is not set (venues.*)", status: .configuration)
        guard let service = feed.service else { throw noAddress }
        let identity = KeyIdentity(restOf: venue, at: service)
        let storage = KeyStorage(self.settings.state, identity: identity, isShared: false, warnings: warnings)
        return try await loop.submit {
            guard let source = feed.tradesSource(on: loop, wallClock: WallClock.now) else { throw noAddress }
            let requests = VenueTradesRequests(
                venue,
                source: source,
                holding: storage.holding,
                loop: loop,
                wallClock: WallClock.now,
                waits: { Console.printError("waiting: \($0)") }
            )
            return NIOLoopBound(requests, eventLoop: loop)
        }.get()
    }

    private static func answer(
        to request: VenueTradesRequest,
        _ requests: NIOLoopBound<VenueTradesRequests>,
        on loop: any EventLoop
    ) async throws -> ByteBuffer {
        let promise = loop.makePromise(of: ByteBuffer.self)
        loop.execute {
            requests.value.ask(request) { result in
                switch result {
                case .success(let frame): promise.succeed(frame)
                case .failure(let failure):
                    promise.fail(OperatorError("the venue cannot be asked: \(failure)", status: .failure))
                }
            }
        }
        return try await promise.futureResult.get()
    }

    private static func name(_ hour: CompletenessHour) -> String {
        "\(SymbolName.word(hour.symbol)) \(UTCText.secondStamp(hour.start))"
    }

    /// Says whether an hour is that of the venue.
    private static func finding(
        _ hour: CompletenessHour,
        _ result: VenueComparison.Result
    ) -> (line: String, differs: Bool) {
        let name = Self.name(hour)
        // Without a hash the single trades decide.
        let differs =
            result.count != hour.count || result.difference != nil
            || hour.sha256.map { $0 != result.sha256 } ?? !result.comparesTrades
        guard differs else { return ("\(name): the venue has the same \(hour.count) trades", false) }
        let hash = hour.sha256.map { result.sha256 == $0 ? "" : ", another hash" } ?? ", the recording has no hash"
        let first = result.difference.map { "; \($0)" } ?? ""
        return ("\(name): the venue has \(result.count) trades, the recording \(hour.count)\(hash)\(first)", true)
    }
}
