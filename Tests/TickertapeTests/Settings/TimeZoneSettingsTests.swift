import Glibc
import Relay
import Terminal
import Testing
@testable import Tickertape

@Suite("The time zone in the settings")
struct TimeZoneSettingsTests {
    private let folder = ScratchFolder()
    private static let hasDatabase = access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0

    private func load(_ zone: String) throws -> Settings {
        var flags = GivenFlags()
        flags.configFile = self.folder.file("config.yaml", "display:\n  time-zone: \(zone)\n")
        return try Settings.load(flags: flags, environment: [:]).settings
    }

    @Test("is the local one by default, or UTC, in any case; the page gets the name")
    func plain() throws {
        #expect(Settings().screen.timeZone == .local && Settings().relayHoldings.timeZone == nil)
        #expect(try self.load("Local").screen.timeZone == .local)
        let utc = try self.load("utc")
        #expect(utc.screenClock == .utc && utc.relayHoldings.timeZone == "UTC")
        #expect(Setting.displayTimeZone.write(utc) == "UTC" && Setting.displayTimeZone.write(Settings()) == "local")
    }

    @Test("is any of the database of this machine", .enabled(if: Self.hasDatabase))
    func named() throws {
        let settings = try self.load("Europe/Berlin")
        #expect(settings.relayHoldings.timeZone == "Europe/Berlin")
        // 2026-07-01 and 2026-12-01.
        #expect(settings.screenClock.label(at: 1_782_864_000_000_000_000) == "UTC+2")
        #expect(settings.screenClock.label(at: 1_796_083_200_000_000_000) == "UTC+1")
        for zone in ["America/St_Johns", "Etc/GMT+12", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Casablanca"] {
            #expect(try self.load(zone).screen.timeZone.name == zone)
        }
    }

    @Test(
        "that is wrong is refused with the cure",
        arguments: [
            "Berlin", "europe/berlin", "../../etc/passwd", "Europe", "Europe/", "/etc/localtime", "CEST", "+01:00",
            "''",
        ]
    )
    func wrong(_ zone: String) {
        let error = #expect(throws: OperatorError.self) { try self.load(zone) }
        #expect(error?.status == .configuration)
        let words = error?.message ?? ""
        #expect(words.contains("write local, UTC") || words.contains("write local or UTC"), "\(words)")
    }
}
