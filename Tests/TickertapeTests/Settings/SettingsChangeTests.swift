import Foundation
import Relay
import TLS
import Testing
import TickertapeTesting
import Wire
@testable import Tickertape

@Suite("The comparison of settings for a reload")
struct SettingsChangeTests {
    @Test("a changed setting is found as itself only, and taking it makes both equal")
    func everySetting() throws {
        for setting in Setting.all where !setting.isSecret {
            guard let text = SettingsLayersTests.unusual[setting.key] else { continue }
            let texts = setting.isList ? text.split(separator: ",").map { $0.trimmingBlanks() } : [text]
            var new = Settings()
            try setting.read(&new, texts)
            let change = SettingsChange(from: Settings(), to: new)
            #expect((change.reloadable + change.restart).map(\.key) == [setting.key])
            #expect(change.reloadable.isEmpty != setting.isReloadable, "\(setting.key)")
            var taken = Settings()
            taken.take([setting], from: new)
            #expect(taken == new, "\(setting.key)")
        }
    }

    @Test("another token in the same file is a change")
    func token() {
        var (old, new) = (Settings(), Settings())
        old.relayToken = Secret("0123456789abcdef")
        new.relayToken = Secret("0123456789abcdeg")
        #expect(SettingsChange(from: old, to: new).reloadable.map(\.key) == ["relay.token-file"])
    }

    @Test("the manual explains every setting")
    func manual() throws {
        let text = try String(contentsOfFile: "\(RunningProgram.sources)/config/tickertape.yaml", encoding: .utf8)
        let outline = YAMLOutline(text)
        for setting in Setting.all { #expect(outline.line(of: setting.key) != nil, "\(setting.key)") }
        #expect(outline.comment(of: "upstream.pong-timeout") == outline.comment(of: "upstream.ping-interval"))
        #expect(outline.comment(of: "upstream.silent-after").first?.hasPrefix("Reconnect when nothing") == true)
    }

    @Test("the line of a key is found in groups, in quotes, and for a key in braces at its group")
    func lines() {
        let outline = YAMLOutline("# a\na:\n  b:\n    c: 1\n  d: 2\n\"e.f\": 3\ng: {h: 4}\nlist:\n  - x: y\n")
        #expect(outline.line(of: "a.b.c") == 4)
        #expect(outline.line(of: "a.d") == 5)
        #expect(outline.line(of: "e.f") == 6)
        #expect(outline.line(of: "g.h") == 7)
        #expect(outline.line(of: "x") == nil)
    }

    @Test("a difference to the running program says whether a reload is enough, and its flags win here, too")
    func difference() throws {
        var running = Settings()
        running.relay.maximumClients = 7
        running.display.isQuiet = true
        running.origins = ["relay.max-clients": .file("/a"), "display.quiet": .flag("--quiet")]
        let values = try #require(
            JSONTree(RunningSettings(running).body).map(RunningSetting.list)
        )
        #expect(values.count == Setting.all.count)
        let lines = SettingsDifference(Settings()).lines(against: values)
        #expect(
            lines == [
                "relay.max-clients: 7 (from /a) runs; 1000 (default) with a reload", "a reload (SIGHUP) is enough",
            ]
        )
        running.origins["display.quiet"] = .file("/a")
        let more = try #require(
            JSONTree(RunningSettings(running).body).map(RunningSetting.list)
        )
        #expect(SettingsDifference(Settings()).lines(against: more).last == "some need a restart")
        #expect(SettingsDifference(running).lines(against: more) == ["the running program has these settings"])
    }
}
