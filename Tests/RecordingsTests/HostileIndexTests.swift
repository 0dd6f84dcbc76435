import Testing
import TickertapeTesting
@testable import Recordings

@Suite("An index with impossible values")
struct HostileIndexTests {
    private func index(lines: String) -> RecordingIndex? {
        let text =
            #"{"index":2,"symbols":["A"],"blocks":[{"offset":0,"length":9,"lines":\#(lines),"n":1,"#
            + #""mono":[0,1],"wall":[0,1],"symbols":[0],"gaps":0,"breaks":0,"silence":0}]}"#
        return Array((text + "\n").sealed.utf8).withUnsafeBytes { RecordingIndex($0, blocks: 4) }
    }

    @Test("is refused with a negative number of lines, and accepted with any other")
    func lines() throws {
        #expect(self.index(lines: "-9223372036854775808") == nil)
        #expect(self.index(lines: "-1") == nil)
        #expect(try #require(self.index(lines: "0")).isNumberedThrough == false)
        #expect(try #require(self.index(lines: "9")).isNumberedThrough)
        #expect(try #require(self.index(lines: "9223372036854775807")).isNumberedThrough)
    }
}
