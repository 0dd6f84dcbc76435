import ArgumentParser
import Feeds
import Market
import Measurements
import NIOCore
import Terminal
import Wire

/// The command that says how a running program does, and whether it was live in earlier hours.
struct StatusCommand: SettingsCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say how the running tickertape does, and whether it was live all night.",
        discussion: """
            Asks the relay of the settings, the relay of the program that holds the key, or the one that is named. The \
            first line says how much of the time since --since the feed was live; the strip below draws it. This comes \
            from the history, which a program keeps while it records, and it reaches over restarts: a time in which no \
            program ran was not live. If no program runs, the history's file is read.

            EXIT STATUS: 0 a tickertape answers, 1 none does.

            EXAMPLES:
              tickertape status --since 22:00
              tickertape status --since 2026-11-21
              tickertape status wss://ticker.lan:8080 --ca-file certificate.pem --since 2h --json
            """
    )

    @Argument(
        help: ArgumentHelp("The relay's address, ws://HOST:PORT, wss://HOST:PORT or ws+unix:PATH.", valueName: "url")
    )
    var url: String?

    @Option(help: ArgumentHelp("Since when, in the past: \(SinceTime.forms). By default 24 h ago.", valueName: "time"))
    var since = "24h"

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var place: HistoryPlaceOptions
    @OptionGroup var authority: AuthorityOptions
    @OptionGroup var relay: RelayOptions
    @OptionGroup var common: CommonOptions

    var groups: [any SettingFlags] { [self.authority, self.relay, self.common] }

    /// The time limit of one request.
    private static let limit = TimeAmount.seconds(5)

    mutating func run() async throws {
        let settings = try self.loadSettings().settings
        let now = WallClock.now()
        let clock = settings.screenClock
        guard let since = SinceTime.parse(self.since, now: now, clock: clock) else {
            throw OperatorError(
                "--since \"\(self.since)\" is no time in the past: write \(SinceTime.forms)",
                status: .usage
            )
        }
        let times = [since, SinceTime.today(now, clock: clock), SinceTime.week(now, clock: clock)]
        var report = StatusReport(clock: clock, times: times, now: now)
        var failure: OperatorError?
        do throws(OperatorError) {
            let relay = try await self.find(settings, into: &report)
            report.address = relay.address.place
            report.metrics = await relay.text("/metrics")
            report.disk = await RecordingDisk(of: relay)
            for (index, time) in times.enumerated() {
                report.spans[index] = try? await relay.ask(
                    "/v1/uptime",
                    query: [("since", "\(time / 1_000_000)")]
                ).get()
            }
        } catch {
            failure = error
            report.readFile(try? self.place.path(settings))
            report.disk = RecordingDisk(folder: settings.recordingFolder)
        }
        if self.json {
            Console.print(json: report.json)
        } else {
            let screen = DisplaySettings(settings.screen) { ProcessEnvironment.current.variable($0) }
            let columns = WrappedLine.window?.columns
            for line in report.lines(isUnicode: screen.look.glyphs == .unicode, columns: columns) {
                Console.print(wrapped: line, indent: 2)
            }
        }
        if let failure { throw failure }
    }

    /// Finds the relay that answers, and puts its status into the report.
    private func find(_ settings: Settings, into report: inout StatusReport) async throws(OperatorError) -> RunningRelay
    {
        let own: UpstreamAddress
        do throws(OperatorError) {
            own = try settings.relayURL(self.url, command: "status")
        } catch {
            guard self.url == nil, let address = Self.holder(settings) else { throw error }
            own = address
        }
        let relay = try RunningRelay(own, settings, within: Self.limit)
        switch await relay.ask("/v1/status") {
        case .success(let status):
            report.status = status
            return relay
        case .failure(let failure):
            if self.url == nil, let address = Self.holder(settings), address != own {
                let other = try RunningRelay(address, settings, within: Self.limit)
                if case .success(let status) = await other.ask("/v1/status") {
                    report.status = status
                    return other
                }
            }
            throw OperatorError("no tickertape answers at \(own.place): \(failure)", status: .failure)
        }
    }

    /// Returns the relay of the program that holds the key.
    private static func holder(_ settings: Settings) -> UpstreamAddress? {
        guard let finnhub = try? FeedPlan(settings, token: settings.token).finnhub else { return nil }
        let storage = KeyStorage(
            settings.state,
            identity: KeyIdentity(key: finnhub.key, upstream: finnhub.upstream),
            warnings: Warnings(print: { _, _ in })
        )
        guard let lock = storage.lock else { return nil }
        switch lock.claim() {
        case .mine:
            lock.release()
            return nil
        case .others(let owner):
            guard case .at(let address)? = owner?.relay else { return nil }
            return address
        }
    }
}
