import Market
import Measurements
import NIOEmbedded

/// Where the program of a schedule runs, and its clock: virtual time, or processes in real time.
protocol ProgramHost: AnyObject {
    /// The longest that the program may take after the market's end to fill what is missing, ns.
    var patience: Int64 { get }
    /// Takes the recordings of a program in virtual time; `nil` if it has no recorder, and for processes.
    var recording: RunRecording? { get }
    /// Starts the program at a time of the market, ns.
    func start(epoch: UInt64, at: Int64) throws(MarketFailure) -> any ScheduledProgram
    /// Lets time pass, to a time of the market, ns; also while no program runs.
    func advance(to at: Int64)
    /// Does what is due now.
    func run()
}

/// One run of the program in a schedule, from its start to its end or to the moment at which it is killed.
protocol ScheduledProgram: AnyObject {
    var checker: TapeChecker { get }
    /// Whether trades are missing that the venue gives, or a gap has no outcome.
    var isWaiting: Bool { get }
    /// Whether the venue never gave a trade to this run, so that the tape may lack it.
    func mayLack(symbol: Int, place: Int) -> Bool
    /// The program's own report of what is on the tape.
    var hours: [CompletenessHour] { get }
    /// Ends a program that is a process, so that the checker has all of its tape.
    func complete(isKilled: Bool)
    /// Ends the program without a goodbye.
    func kill()
    func stop()
}

/// The program in virtual time. Its files outlive it.
final class VirtualHost: ProgramHost {
    let patience: Int64 = 7_200_000_000_000
    private let service: VenueService
    private let files = ProgramFiles()
    private weak var life: ProgramLife?

    let recording: RunRecording?

    init(_ service: VenueService) throws(MarketFailure) {
        self.service = service
        let schedule = service.schedule
        self.recording = schedule.isRecorded ? try RunRecording(service.market, seed: schedule.seed) : nil
    }

    func start(epoch: UInt64, at: Int64) throws(MarketFailure) -> any ScheduledProgram {
        let life = try ProgramLife(
            self.service,
            epoch: epoch,
            at: at,
            files: self.files,
            recording: self.recording
        )
        self.life = life
        return life
    }

    func advance(to at: Int64) { self.life?.advance(to: at) }
    func run() { self.life?.loop.run() }
}

extension ProgramLife: ScheduledProgram {
    var hours: [CompletenessHour] { self.meter.hours() }
    /// Does nothing: the checker reads the tape itself.
    func complete(isKilled: Bool) {}
}
