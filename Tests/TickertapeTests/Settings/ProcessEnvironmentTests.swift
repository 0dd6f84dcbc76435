import Feeds
import NIOCore
import Testing
@testable import Tickertape

@Suite("Where the program runs")
struct ProcessEnvironmentTests {
    private func processEnvironment(
        _ environment: [String: String],
        parent: Int32 = 7,
        hasTerminal: Bool = false
    ) -> ProcessEnvironment {
        ProcessEnvironment(
            variable: { environment[$0] },
            userID: 42,
            processID: 99,
            parentID: parent,
            hasTerminal: hasTerminal
        )
    }

    @Test("is a service only where systemd itself started it and no terminal is there")
    func service() {
        #expect(!self.processEnvironment([:]).isService)
        #expect(self.processEnvironment(["SYSTEMD_EXEC_PID": "99"]).isService)
        #expect(!self.processEnvironment(["SYSTEMD_EXEC_PID": "99"], hasTerminal: true).isService)
        // A shell that a unit started.
        #expect(!self.processEnvironment(["SYSTEMD_EXEC_PID": "98", "INVOCATION_ID": "x"], parent: 1).isService)
        #expect(!self.processEnvironment(["INVOCATION_ID": "x"]).isService)
        #expect(self.processEnvironment(["INVOCATION_ID": "x"], parent: 1).isService)
        #expect(!self.processEnvironment(["HOME": "/"], parent: 1).isService)
    }

    @Test("a service retries a rejected key after a quarter of an hour, and at a terminal the program ends")
    func rejectedKey() {
        let quarter: Int64 = 900_000_000_000
        let usual = Settings().rejectedKey
        #expect(usual.wait(isService: true) == quarter)
        #expect(usual.wait(isService: false) == nil)
        #expect(Settings.RejectedKey.stop.wait(isService: true) == nil)
        #expect(Settings.RejectedKey.retry(.seconds(7)).wait(isService: false) == 7_000_000_000)
    }

    @Test("takes its folders from systemd, the session or the home, and falls back in a container without any")
    func folders() {
        let service = self.processEnvironment(["STATE_DIRECTORY": "/s:/t", "RUNTIME_DIRECTORY": "/r", "HOME": "/h"])
        #expect(service.stateFolder == "/s")
        #expect(service.runtimeFolders == ["/r"])
        let session = self.processEnvironment(["XDG_STATE_HOME": "/x", "XDG_RUNTIME_DIR": "/y", "HOME": "/h"])
        #expect(session.stateFolder == "/x/tickertape")
        #expect(session.runtimeFolders == ["/y/tickertape", "/run/user/42/tickertape", "/tmp/tickertape-42"])
        #expect(self.processEnvironment(["HOME": "/h"]).stateFolder == "/h/.local/state/tickertape")
        let relative = self.processEnvironment(["XDG_STATE_HOME": "x", "XDG_RUNTIME_DIR": "", "HOME": ""])
        #expect(relative.stateFolder == nil)
        #expect(relative.runtimeFolders == ["/run/user/42/tickertape", "/tmp/tickertape-42"])
    }

    @Test("looks for data in this user's folder and then in the shared ones")
    func dataFolders() {
        let usual = self.processEnvironment(["HOME": "/h"])
        #expect(usual.dataFolders == ["/h/.local/share", "/usr/local/share", "/usr/share"])
        #expect(self.processEnvironment(["XDG_DATA_DIRS": ""]).dataFolders == ["/usr/local/share", "/usr/share"])
        let set = self.processEnvironment(["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_DATA_DIRS": "/a:b::/c"])
        #expect(set.dataFolders == ["/d", "/a", "/c"])
    }
}
