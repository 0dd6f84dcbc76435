import Testing
@testable import Relay

@Suite("Places of the relay's connections")
struct PlacesTests {
    @Test("clients leave places for requests, also with a low limit of open files")
    func leavesPlaces() {
        let settings = RelaySettings()
        func places(_ descriptors: Int) -> [Int] {
            let places = RelayListener.Places(of: settings, descriptors: descriptors)
            return [places.all, places.clients]
        }
        #expect(places(100_000) == [1_100, 1_000])
        #expect(places(1_100) == [1_100, 1_000])
        #expect(places(1_099) == [1_099, 999])
        #expect(places(400) == [400, 300])
        #expect(places(84) == [84, 63])
        #expect(places(DescriptorBudget.least) == [8, 6])
        var few = RelaySettings()
        few.maximumClients = 20
        few.maximumPlainConnections = 4
        #expect(RelayListener.Places(of: few, descriptors: 1_000).clients == 20)
    }
}
