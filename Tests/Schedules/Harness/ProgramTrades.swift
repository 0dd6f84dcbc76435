import Feeds
import NIOCore
import Wire

/// The program's way to the venue's REST service.
final class ProgramTrades: VenueTradesSource {
    private unowned let life: ProgramLife
    private let service: VenueService

    init(life: ProgramLife, service: VenueService) {
        self.life = life
        self.service = service
    }

    var addresses: [String] {
        self.service.schedule.hosts == .first
            ? ["the REST service"] : ["the REST service", "the REST service for market data"]
    }

    func ask(
        _ request: VenueTradesRequest,
        at address: Int,
        on loop: any EventLoop,
        then: @escaping (VenueTradesAnswer) -> Void
    ) {
        guard !self.life.isDead else { return }
        let reply = self.service.asked(request, host: address, now: self.life.now, wall: self.life.wallClock())
        let bound = NIOLoopBound((life: self.life, service: self.service, then: then), eventLoop: loop)
        loop.scheduleTask(in: .nanoseconds(reply.after)) {
            let (life, service, then) = bound.value
            guard !life.isDead else { return }
            if let failure = reply.failure { return then(VenueTradesAnswer(.failure(failure))) }
            let body = reply.body ?? service.body(for: request, reply.fault, now: life.now)
            if service.hasLimits, reply.isWhole { life.offered(body, request.symbol) }
            then(VenueTradesAnswer(.success(body)))
        }
    }
}
