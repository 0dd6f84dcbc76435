import Feeds
import Market
import NIOCore
import NIOEmbedded
import Wire

/// An address that refuses this location.
struct RefusingConnector: Connecting {
    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        loop.scheduleTask(in: .milliseconds(40)) {
            var failure = UpstreamFailure("HTTP 451", cause: .refusedStatus)
            failure.isOfLocation = true
            throw failure
        }.futureResult
    }
}

/// The program's ways to the venue: connections and the list of symbols.
///
/// Unchecked, because everything runs on the thread of the harness, which is the loop's too.
final class ProgramConnector: Connecting, VenueNameSource, @unchecked Sendable {
    private unowned let life: ProgramLife
    private let service: VenueService

    init(life: ProgramLife, service: VenueService) {
        self.life = life
        self.service = service
    }

    func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        guard !self.life.isDead else { return loop.makeFailedFuture(ChannelError.eof) }
        let handshake = self.service.jitter(60_000_000)
        switch self.service.attempted(now: self.life.now) {
        case .refused(let failure):
            return loop.scheduleTask(in: .nanoseconds(handshake)) { throw failure }.futureResult
        case .hangs:
            return loop.scheduleTask(in: .seconds(10)) {
                throw UpstreamFailure("no answer within 10 s", cause: .lost)
            }.futureResult
        case .accepted: break
        }
        do {
            let (channel, line) = try self.life.open(reached)
            let steps = NIOLoopBound(
                (life: self.life, channel: channel, line: line, connected: connected),
                eventLoop: loop
            )
            return loop.scheduleTask(in: .nanoseconds(handshake)) {
                let (life, channel, line, connected) = steps.value
                guard !life.isDead, channel.isActive else { throw ChannelError.eof }
                life.opened(line)
                try connected(channel, false)
            }.futureResult
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    func names(on loop: any EventLoop, then: @escaping (Result<VenueNames, ServiceFailure>) -> Void) {
        let market = self.service.market
        let listings = market.symbols.map { symbol in
            VenueListing(symbol: symbol, name: market.venue.native(of: symbol), isTrading: true)
        }
        let bound = NIOLoopBound(then, eventLoop: loop)
        loop.scheduleTask(in: .nanoseconds(self.service.jitter(100_000_000))) {
            bound.value(.success(VenueNames(market.venue, listings)))
        }
    }
}
