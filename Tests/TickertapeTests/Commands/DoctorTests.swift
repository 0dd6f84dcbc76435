import Feeds
import Market
@testable import TLS
import Testing
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
}
