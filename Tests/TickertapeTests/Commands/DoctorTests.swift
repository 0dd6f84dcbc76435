import Feeds
import Foundation
import Market
import NIOCore
import NIOPosix
@testable import TLS
import Terminal
import Testing
import TickertapeTesting
import Wire
@testable import Tickertape

@Suite("The checks of the doctor")
struct DoctorTests {
    private static let second: Int64 = 1_000_000_000

    @Test("a check is one line with its cure, and one JSON object")
    func forms() {
        let check = DoctorCheck("dns", .failure, "the name \"a\" is unknown", cure: "check it")
        #expect(check.line == "failure dns          the name \"a\" is unknown; cure: check it")
        #expect(
            check.json
                == #"{"check":"dns","state":"failure","measured":"the name \"a\" is unknown","cure":"check it"}"#
        )
        #expect(DoctorCheck("tcp-ipv4", .ok, "x").json.hasSuffix(#""measured":"x","cure":null}"#))
    }

    @Test("the exit status is that of the worst check")
    func verdict() {
        let note = DoctorCheck("a", .note, "")
        let warning = DoctorCheck("b", .warning, "")
        let failure = DoctorCheck("c", .failure, "")
        #expect([note].verdict == nil)
        #expect([note, warning].verdict == OperatorError("1 warning", status: .failure))
        #expect(
            [warning, failure, failure].verdict == OperatorError("2 failures, 1 warning", status: .faultFound)
        )
        #expect(ExitStatus.failure.rawValue == 1 && ExitStatus.faultFound.rawValue == 2)
    }

    @Test(
        "the clock is judged by what is beyond the error of the measurement",
        arguments: [
            (0, DoctorCheck.State.ok, "behind"), (-1, .ok, "behind"), (-4, .warning, "behind"),
            (3, .warning, "ahead of"), (9, .failure, "ahead of"), (-3_600, .failure, "behind"),
        ]
    )
    func clock(seconds: Int64, state: DoctorCheck.State, direction: String) {
        // The trip takes 200 ms, and the server's date is cut to the second.
        let date: Int64 = 1_795_000_000
        let sent = (date + seconds) * Self.second - 100_000_000
        let time = UpstreamProbe.ServerTime(date: date, sent: sent, received: sent + 200_000_000)
        #expect(time.ahead == seconds * Self.second - 500_000_000 && time.error == 600_000_000)
        let check = Doctor.clock(time, of: "example.org")
        #expect(check.state == state && check.measured.contains(" s \(direction) example.org"), "\(check)")
        #expect((check.cure == nil) == (state == .ok))
    }

    @Test("a certificate that is unchecked or about to expire is a warning")
    func certificate() {
        let now: Int64 = 1_795_000_000
        var session = TLSSession(
            version: .tls13,
            cipher: "TLS_AES_256_GCM_SHA384",
            applicationProtocol: nil,
            isResumed: false,
            isPeerVerified: true,
            certificateExpiry: now + 30 * 86_400
        )
        let good = Doctor.tls(session, 34_000_000, now: now)
        #expect(good.state == .ok && good.cure == nil)
        #expect(
            good.measured.hasPrefix("TLSv1.3 with TLS_AES_256_GCM_SHA384 after 34 ms, certificate valid until 2026-12")
        )
        session.certificateExpiry = now + 86_400
        #expect(Doctor.tls(session, 1, now: now).state == .warning)
        session.isPeerVerified = false
        #expect(Doctor.tls(session, 1, now: now).measured.contains("the chain is not checked"))
    }

    @Test("too few descriptors are a warning with the number that is needed, and far too few a failure")
    func descriptors() {
        #expect(Doctor.descriptors(limit: 1_096, clients: 1_000).state == .ok)
        let few = Doctor.descriptors(limit: 1_024, clients: 1_000)
        #expect(few.state == .warning && few.cure?.contains("LimitNOFILE=1096") == true, "\(few)")
        #expect(Doctor.descriptors(limit: 32, clients: 1_000).state == .failure)
    }

    private static let unit = """
        LoadState=loaded
        ActiveState=active
        Result=success
        NRestarts=2
        ProtectSystem=strict
        ProtectHome=yes
        StateDirectory=tickertape
        ReadWritePaths=-/srv/prices
        LimitNOFILE=65536
        Environment=FINNHUB_TOKEN=hidden TICKERTAPE_RECORD_DIRECTORY=/var/lib/tickertape
        """

    @Test(
        "a strict sandbox allows only the folders that the unit names",
        arguments: [
            ("/var/lib/tickertape", true), ("/var/lib/tickertape/x", true), ("/srv/prices/2026", true),
            ("/srv/pricesold", false), ("/home/a", false), ("/", false),
        ]
    )
    func sandbox(folder: String, isAllowed: Bool) {
        let unit = InstalledUnit(Self.unit)
        #expect(unit.allowsWriting(to: folder) == isAllowed)
        #expect(unit.recordings == "/var/lib/tickertape" && !"\(unit)".contains("hidden"))
        let check = Doctor.sandbox(unit, recordings: folder, clients: 1_000)
        #expect(check.state == (isAllowed ? .ok : .failure))
        #expect(isAllowed || check.cure?.contains("ReadWritePaths=\(folder)") == true)
        #expect(!check.measured.contains("hidden"))
    }

    @Test("a unit with too few descriptors, or whose last run failed, is a warning")
    func unit() {
        let few = InstalledUnit(Self.unit.replacing("65536", with: "1024"))
        let check = Doctor.sandbox(few, recordings: "/srv/prices", clients: 1_000)
        #expect(check.cure?.contains("LimitNOFILE=1096") == true)
        let failed = InstalledUnit(Self.unit.replacing("Result=success", with: "Result=exit-code"))
        let other = Doctor.sandbox(failed, recordings: "/srv/prices", clients: 10)
        #expect(other.state == .warning && other.cure?.contains("journalctl") == true)
    }

    @Test("a wait of the ladder is a warning that says how long, and is over when it is")
    func penalties() {
        let now: Int64 = 1_795_000_000 * Self.second
        let saved = SavedBackoff(
            failures: 3,
            refusals: 1,
            briefLives: 0,
            kind: .rateLimited,
            at: now - 10 * Self.second,
            wait: 60 * Self.second,
            reason: "HTTP 429"
        )
        let (check, wait) = Doctor.penalties(saved, settings: ReconnectBackoff.Settings(), now: now)
        #expect(wait == 50 * Self.second && check.state == .warning)
        #expect(
            check.measured == "the next attempt waits 50 s (HTTP 429); "
                + "3 failed attempts and 1 refusal since the last good connection"
        )
        let later = Doctor.penalties(saved, settings: ReconnectBackoff.Settings(), now: now + 51 * Self.second)
        #expect(later.wait == 0 && later.check.state == .ok)
    }

    @Test(
        "the terminal's line has size, name, colours and characters, and what is wrong with them",
        arguments: [
            ((80, 24), "xterm-256color", .many, true, .ok, "80 × 24, TERM=xterm-256color, 256 colours, Unicode"),
            ((80, 24), "xterm", .sixteen, true, .ok, "80 × 24, TERM=xterm, 16 colours, Unicode"),
            ((200, 50), "x-direct", .full, true, .ok, "200 × 50, TERM=x-direct, 24-bit colours, Unicode"),
            ((80, 24), "vt100", .none, false, .note, "80 x 24, TERM=vt100, no colours, ASCII"),
            ((80, 25), "linux", .sixteen, false, .ok, "80 x 25, TERM=linux, 16 colours, ASCII"),
            ((39, 10), "xterm", .sixteen, true, .warning, "39 × 10, TERM=xterm, 16 colours, Unicode"),
            ((40, 9), "xterm", .sixteen, true, .warning, "40 × 9, TERM=xterm, 16 colours, Unicode"),
            (
                nil, "dumb", .none, true, .warning,
                "of unknown size, TERM=dumb, no colours, Unicode; prices come as plain lines"
            ),
            ((80, 24), "", .none, true, .warning, "80 × 24, no TERM, no colours, Unicode; prices come as plain lines"),
        ] as [((Int, Int)?, String, ScreenPalette.Depth, Bool, DoctorCheck.State, String)]
    )
    func terminal(
        size: (Int, Int)?,
        name: String,
        depth: ScreenPalette.Depth,
        isUnicode: Bool,
        state: DoctorCheck.State,
        words: String
    ) {
        let check = Doctor.terminal(
            size: size.map { (columns: $0.0, rows: $0.1) },
            name: name,
            depth: depth,
            hasNoColourWish: false,
            isUnicode: isUnicode
        )
        #expect(check.state == state && check.measured == words, "\(check)")
        #expect((check.cure == nil) == (state == .ok))
    }

    @Test("a wish for no colours is named as their reason")
    func noColours() {
        let check = Doctor.terminal(size: nil, name: "xterm", depth: .none, hasNoColourWish: true, isUnicode: true)
        #expect(check.measured == "of unknown size, TERM=xterm, no colours (NO_COLOR), Unicode", "\(check)")
    }

    // MARK: The two IP versions

    private func doctor(
        _ change: (inout Settings) -> Void = { _ in },
        environment: [String: String] = [:]
    ) -> Doctor {
        var settings = Settings()
        change(&settings)
        var own = ProcessEnvironment.current
        own.variable = { environment[$0] }
        return Doctor(
            LoadedSettings(settings: settings, file: nil, warnings: []),
            hasUnreadableSecret: false,
            environment: own
        )
    }

    @Test("a family that answers and one that does not have a line each", arguments: ["127.0.0.1", "::1"])
    func families(listening: String) async throws {
        let other = listening == "::1" ? "127.0.0.1" : "::1"
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: listening, port: 0).get()
        let port = try #require(server.localAddress?.port)
        let addresses = try [listening, other].map { try SocketAddress(ipAddress: $0, port: port) }
        let doctor = self.doctor()
        let probe = try doctor.probe(try UpstreamAddress("ws://localhost:\(port)"))
        let (checks, isReached) = await doctor.connections(probe, addresses, proxy: nil)
        #expect(isReached && checks.map(\.check) == ["tcp-ipv4", "tcp-ipv6"])
        let (good, bad) = listening == "::1" ? (checks[1], checks[0]) : (checks[0], checks[1])
        #expect(good.state == .ok && good.measured.hasPrefix("\(listening) answers in "), "\(good)")
        #expect(bad.state == .warning, "\(bad)")
        #expect(bad.measured.contains("(\(other)) refuses connections"), "\(bad)")
        #expect(bad.measured.hasSuffix("; the other family works"), "\(bad)")
        let name = listening == "::1" ? "IPv4" : "IPv6"
        #expect(bad.cure?.hasPrefix("repair \(name): ") == true, "\(bad)")

        let (one, _) = await doctor.connections(probe, Array(addresses.prefix(1)), proxy: nil)
        #expect(one.contains { $0.state == .note && $0.measured == "localhost has no \(name) address" }, "\(one)")
        try await server.close()
        let (none, isAnyReached) = await doctor.connections(probe, addresses, proxy: nil)
        #expect(!isAnyReached && none.allSatisfy { $0.state == .failure && $0.cure != nil }, "\(none)")
    }

    @Test("a family that the kernel or a sandbox forbids costs nothing while the other works, and else names the unit")
    func forbiddenFamily() async throws {
        let doctor = self.doctor()
        let probe = try doctor.probe(try UpstreamAddress("ws://127.0.0.1:1"))
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        guard case .failure(let failure)? = await probe.connect(to: [address], .ipv4) else {
            Issue.record("something listens on port 1")
            return
        }
        func judged(hasSockets: Bool, otherWorks: Bool) -> DoctorCheck {
            Doctor.unconnected(
                "tcp-ipv6",
                "IPv6",
                failure,
                proxy: nil,
                hasSockets: hasSockets,
                otherWorks: otherWorks
            )
        }
        let harmless = judged(hasSockets: false, otherWorks: true)
        #expect(harmless.state == .note && harmless.cure == nil, "\(harmless)")
        #expect(harmless.measured == "this machine has no sockets for IPv6, and the other family works")
        #expect(judged(hasSockets: true, otherWorks: true).state == .warning)
        let alone = judged(hasSockets: false, otherWorks: false)
        #expect(alone.state == .failure && alone.cure?.contains("RestrictAddressFamilies=") == true, "\(alone)")
    }

    // MARK: Files

    @Test("a folder for recordings that is missing is a failure, since the program does not make it")
    func missingFolder() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let missing = "\(folder.path)/recordings"
        let check = self.doctor(
            { settings in settings.record.file = "\(missing)/prices.jsonl" },
            environment: ["XDG_STATE_HOME": folder.path]
        ).rights(nil)
        #expect(check.state == .failure && check.measured == "\(missing) (record) does not exist", "\(check)")
        #expect(check.cure == "mkdir -p \(missing)")
    }

    @Test("a folder of the state that is a symbolic link is not used, and is a warning")
    func linkedState() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/state",
            withDestinationPath: FileManager.default.temporaryDirectory.path
        )
        let check = self.doctor(environment: ["STATE_DIRECTORY": "\(folder.path)/state"]).rights(nil)
        #expect(check.state == .warning && check.measured == "\(folder.path)/state is not a folder", "\(check)")
        #expect(check.cure?.contains("state.directory") == true)
    }

    @Test("one folder for recordings and state has one line")
    func sharedFolder() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let checks = await self.doctor(
            { settings in settings.record.directory = folder.path },
            environment: ["STATE_DIRECTORY": folder.path]
        ).disks()
        #expect(checks.count == 1, "\(checks)")
        #expect(checks[0].measured.contains("\(folder.path) (record.directory and state.directory)"), "\(checks)")
    }
}
