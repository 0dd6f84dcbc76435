import Feeds
import MockUpstream
import Testing

@Suite("One connection per key")
struct KeyHoldersTests {
    @Test("throws out both, and the next one is alone")
    func both() {
        var holders = KeyHolders(rule: .both)
        #expect(holders.opened("a", by: 1).isEmpty)
        #expect(!holders.refuses("a"))
        #expect(holders.opened("a", by: 2) == [1, 2])
        #expect(holders.opened("a", by: 3).isEmpty)
    }

    @Test("throws out the older, whose end then frees nothing")
    func older() {
        var holders = KeyHolders(rule: .older)
        #expect(holders.opened("a", by: 1).isEmpty)
        #expect(holders.opened("a", by: 2) == [1])
        holders.ended("a", by: 1)
        #expect(holders.opened("a", by: 3) == [2])
    }

    @Test("refuses the newer until the older has ended, and another key never")
    func refuse() {
        var holders = KeyHolders(rule: .refuse)
        #expect(holders.opened("a", by: 1).isEmpty)
        #expect(holders.refuses("a"))
        #expect(!holders.refuses("b"))
        holders.ended("a", by: 1)
        #expect(!holders.refuses("a"))
    }
}
