import Foundation
import NIOCore
import NIOPosix
import TLS
import TickertapeTesting
import Wire

/// The program as processes in real time, with the venue behind real sockets.
final class SocketHost: ProgramHost {
    let patience: Int64 = 600_000_000_000
    let recording: RunRecording? = nil
    private let clock: RealTimeLoop
    let venue: SocketVenue
    private let folder: TemporaryFolder
    /// The options that tell the program about the venue.
    let settings: [String]
    /// The files of each run's recording so far.
    var recordings: [[String]] = []

    init(_ service: VenueService, on group: any EventLoopGroup) throws(MarketFailure) {
        self.clock = RealTimeLoop()
        self.venue = SocketVenue(service, self.clock)
        do {
            self.folder = try TemporaryFolder()
            let authority = try self.folder.write(Certificates.authority.certificatePEM, to: "ca.pem")
            let port = try self.venue.listen(Certificates.localhost, on: group)
            let name = service.market.venue.rawValue
            let path = service.market.venue == .binance ? "/stream" : "/"
            self.settings = [
                "tls.ca-file=\(authority)", "record.compress=false",
                "venues.\(name)-url=wss://127.0.0.1:\(port)\(path)", "venues.\(name)-service=https://127.0.0.1:\(port)",
            ].flatMap { ["--set", $0] }
        } catch {
            throw MarketFailure("the venue cannot listen: \(error)")
        }
    }

    /// Where the program records and keeps its state.
    var path: String { self.folder.path }

    func start(epoch: UInt64, at: Int64) throws(MarketFailure) -> any ScheduledProgram {
        do {
            return try SocketProgram(self)
        } catch {
            throw MarketFailure("\(RunningProgram.tickertape) does not start: \(error)")
        }
    }

    func advance(to at: Int64) { self.clock.wait(until: at + ProgramLife.origin) }
    func run() { self.clock.run() }

    /// Stops the venue, and removes what the programs have written unless something was wrong.
    func stop(_ outcome: inout ScheduleOutcome) {
        try? self.venue.stop()
        if outcome.faults.isEmpty {
            self.folder.remove()
        } else {
            outcome.faults.append("the recordings are in \(self.folder.path)")
        }
    }
}

extension ScheduleRun {
    /// Runs the schedules of some seeds in real time and all at once: the venue is behind TLS on 127.0.0.1, the program
    /// is a process that records.
    ///
    /// It takes as long as the market does, and then until the programs have what was missing.
    ///
    /// - Parameter done: called with the outcome of each, one at a time.
    package static func runRealTime(
        _ seeds: Range<UInt64>,
        _ market: VenueMarket,
        done: @escaping @Sendable (Result<ScheduleOutcome, MarketFailure>) -> Void
    ) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: min(max(seeds.count, 1), 8))
        let ended = DispatchGroup()
        let one = DispatchQueue(label: "outcomes")
        for seed in seeds {
            // The program's addresses and its age of connections are settings that this host leaves alone.
            var made = Self.schedule(seed, market)
            made.hosts = .first
            made.age = nil
            let schedule = made
            ended.enter()
            let thread = Thread {
                var host: SocketHost?
                let outcome = Result { () throws(MarketFailure) in
                    var outcome = try ScheduleRun(schedule, market) { service throws(MarketFailure) in
                        let made = try SocketHost(service, on: group)
                        host = made
                        return made
                    }
                    .run()
                    host?.stop(&outcome)
                    return outcome
                }
                one.sync { done(outcome) }
                ended.leave()
            }
            thread.stackSize = 4 << 20
            thread.start()
        }
        ended.wait()
        try? group.syncShutdownGracefully()
    }
}
